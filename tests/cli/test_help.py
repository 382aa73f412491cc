import re
import subprocess
from pathlib import Path

import pytest

from ferrox_gguf.cli.flags.completion import completion_bash
from ferrox_gguf.cli.flags.flag import Action, Group
from ferrox_gguf.cli.flags.help import help_text
from ferrox_gguf.cli.flags.markdown import flags_markdown
from ferrox_gguf.cli.flags.shown import default
from ferrox_gguf.cli.flags.table import FLAGS

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.mark.parametrize("width", [80, 100, 200])
def test_help_fits_the_terminal(width):
    assert [line for line in help_text("ferrox-server", width).splitlines() if len(line) > width] == []


def test_help_shows_every_flag_once_under_its_heading():
    text = help_text("ferrox-server", 120)
    for flag in FLAGS:
        names = re.escape(", ".join((*flag.names, *flag.off)))
        assert len(re.findall(rf"^[ *-] {names}(?=[ \n])", text, re.MULTILINE)) == 1, flag.name
    headings = [line[:-1] for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert headings == [group.value for group in Group]


def test_help_shows_every_default():
    text = " ".join(help_text("ferrox-server", 100).split())
    for flag in FLAGS:
        if not isinstance(flag.sets, Action):
            assert f"(default: {default(flag)})" in text, flag.name


def test_help_is_aligned():
    for line in help_text("ferrox-server", 100).splitlines():
        assert not line.startswith(" " * 20) or line.startswith(" " * 34 + line.strip()[0])


def test_the_page_about_flags_is_what_the_table_says():
    assert (DOCS / "flags.md").read_text() == flags_markdown(), "stale: run scripts/write_flag_docs.py"


def complete(*words: str) -> list[str]:
    """What bash offers for the last word."""
    ask = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ferrox_server; printf \'%s\\n\' "${COMPREPLY[@]}"'
    script = f"{completion_bash()}\n{ask}"
    result = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, check=True)
    return result.stdout.split()


def test_the_shell_completes_flags():
    assert complete("ferrox-server", "--ctx-s") == ["--ctx-size"]
    assert "--no-mmproj" in complete("ferrox-server", "--no-m")


def test_the_shell_completes_values_and_files(tmp_path):
    (tmp_path / "some.gguf").touch()
    assert complete("ferrox-server", "-fa", "") == ["on", "off", "auto"]
    assert complete("ferrox-server", "-m", f"{tmp_path}/so") == [f"{tmp_path}/some.gguf"]
    assert complete("ferrox-server", "--port", "80") == []
