"""`--help`: groups, two columns, every default."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from ferrox_gguf.cli.flags.flag import Flag, State
from ferrox_gguf.cli.flags.shown import default, groups, spelled

LEFT = 34
NARROWEST, WIDEST = 80, 120
TIED = "\x1f"
"""Stands for a space at which a line must not be broken; textwrap does not know it as white space."""

EXAMPLES = """\
{program}: serve a GGUF model over HTTP, with llama-server's flags and APIs.

  {program} -m model.gguf                one file, on http://127.0.0.1:8080
  {program} -hf user/model:Q4_K_M        fetched once, then kept
"""

NOTES = (
    "A flag wins over its variable, in brackets. Flags marked * are accepted so that scripts keep working, and do "
    "nothing here; flags marked - are refused, with the reason. docs/flags.md says why for each."
)

MARKS = {State.DONE: " ", State.ACCEPTED: "*", State.REFUSED: "-"}


def help_text(program: str, width: int) -> str:
    """The whole text for a terminal of this width."""
    width = max(NARROWEST, min(width, WIDEST))
    parts = [EXAMPLES.format(program=program) + "\n" + textwrap.fill(NOTES, width)]
    for group, flags in groups():
        rows = [line for flag in flags for line in _row(flag, width)]
        parts.append("\n".join([f"{group.value}:", *rows]))
    return "\n\n".join(parts)


def _row(flag: Flag, width: int) -> Iterator[str]:
    *above, left = textwrap.wrap(f"{MARKS[flag.state]} {spelled(flag)}", width, subsequent_indent="    ")
    right = [line.replace(TIED, " ") for line in textwrap.wrap(_explained(flag), width - LEFT)]
    yield from above
    if len(left) < LEFT - 1:
        yield left.ljust(LEFT) + right.pop(0)
    else:
        yield left
    yield from (" " * LEFT + line for line in right)


def _explained(flag: Flag) -> str:
    sentence = flag.help
    if shown := default(flag):
        sentence += f" (default: {shown})".replace("default: ", f"default:{TIED}")
    return f"{sentence} [{flag.env[0]}]" if flag.env else sentence
