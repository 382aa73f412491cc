"""How a flag is written down for a person: spellings, default, variables. Shared by --help and docs/flags.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from ferrox_gguf.cli.flags.flag import Action, Flag, Group
from ferrox_gguf.cli.flags.path import get
from ferrox_gguf.cli.flags.table import FLAGS
from ferrox_gguf.settings import Settings


def groups(flags: tuple[Flag, ...] = FLAGS) -> Iterator[tuple[Group, list[Flag]]]:
    """Headings and their flags, as the table orders them."""
    for group, members in groupby(flags, key=lambda flag: flag.group):
        yield group, list(members)


def spelled(flag: Flag) -> str:
    """`-c, --ctx-size N`."""
    names = ", ".join((*flag.names, *flag.off))
    return f"{names} {flag.value.hint}" if flag.value else names


def default(flag: Flag) -> str:
    """What holds when nobody says anything; "" for flags that only do something when given."""
    if isinstance(flag.sets, Action):
        return ""
    if flag.default is not None:
        return flag.default
    if not isinstance(flag.sets, str):
        return "none" if flag.value else "off"
    value = get(Settings(), flag.sets)
    if flag.value is not None:
        return flag.value.show(value)
    return "on" if value else "off"
