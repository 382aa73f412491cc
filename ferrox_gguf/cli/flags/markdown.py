"""docs/flags.md: the table, for reading. scripts/write_flag_docs.py writes it; a test says when it is stale."""

from __future__ import annotations

from collections.abc import Iterator

from ferrox_gguf.cli.flags.environment import variables
from ferrox_gguf.cli.flags.flag import Flag, State
from ferrox_gguf.cli.flags.shown import default, groups, spelled
from ferrox_gguf.cli.flags.table import FLAGS

HEAD = """\
```
ferrox-server --help
```

# Flags

Every flag of llama-server's, and a few of our own. **done** works; **accepted** is read, changes nothing, and says so
once at start; **refused** ends the program with the reason. A flag wins over its variable. A switch's variable takes
`1`, `on`, `enabled`, `true` and their opposites; `LLAMA_ARG_NO_X`, set to anything, switches `X` off.

{counts}

<!-- Written by scripts/write_flag_docs.py from ferrox_gguf/cli/flags: edit there. -->
"""


def flags_markdown() -> str:
    """The whole page."""
    states = {state: sum(flag.state is state for flag in FLAGS) for state in State}
    counts = ", ".join(f"{number} {state.value}" for state, number in states.items())
    return "\n".join([HEAD.format(counts=f"{len(FLAGS)} flags: {counts}."), *_sections()])


def _sections() -> Iterator[str]:
    for group, flags in groups():
        yield f"## {group.value}\n"
        yield "| flag | | default | variable |\n|---|---|---|---|"
        yield from (_row(flag) for flag in flags)
        yield ""


def _row(flag: Flag) -> str:
    notes = [flag.help]
    if flag.state is not State.DONE:
        notes.append(f"**{flag.state.value}**: {flag.why}")
    elif flag.ours:
        notes.append("(not in llama-server)")
    cells = (
        f"`{spelled(flag)}`",
        "<br>".join(notes),
        default(flag),
        "<br>".join(f"`{name}`" for name in variables(flag)),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
