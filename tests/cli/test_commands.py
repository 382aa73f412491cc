"""The installed commands, as processes: exit status, one line on standard error, no traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

from ferrox_gguf import __version__

BIN = Path(sys.executable).parent


def command(name: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BIN / name, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **environment},
    )


def assert_one_line(result: subprocess.CompletedProcess[str], said: str) -> None:
    assert result.returncode == 1
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert said in line


def test_help_and_version_end_well():
    assert command("ferrox-server", "--help").stdout.startswith("ferrox-server: serve a GGUF model")
    assert command("ferrox-server", "--version").stdout.startswith(f"version: {__version__} (ferrox-gguf,")
    assert command("ferrox-gguf", "--version").stdout == f"ferrox-gguf {__version__}\n"


def test_serve_is_the_same_command():
    assert command("ferrox-gguf", "serve", "-h").stdout == command("ferrox-server", "-h").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--modle", "x"), "invalid argument: --modle (the nearest known flag is --model)"),
        (("-c", "many"), "-c: expected a whole number, got 'many'"),
        (("--mmproj", "x"), "--mmproj: images, audio and video are not read"),
        ((), "no model: say which with -m FILE"),
    ],
)
def test_a_wrong_command_line_is_one_line(arguments, said):
    assert_one_line(command("ferrox-server", *arguments), said)


def test_an_unknown_command_lists_the_known_ones():
    result = command("ferrox-gguf", "sevre")
    assert result.returncode == 1
    assert "there is no command 'sevre'" in result.stderr
    assert "inspect" in result.stderr


def test_a_reader_that_leaves_early_is_no_traceback():
    piped = f"{BIN}/ferrox-server --help | head -1"
    result = subprocess.run(["bash", "-c", piped], capture_output=True, text=True, timeout=60)
    assert result.stderr == ""


def test_a_link_named_llama_server_is_the_server(tmp_path):
    link = tmp_path / "llama-server"
    link.symlink_to(BIN / "ferrox-server")
    result = subprocess.run([link, "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.startswith("version: ")
