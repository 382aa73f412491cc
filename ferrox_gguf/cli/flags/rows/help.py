"""Flags that print something and end."""

from __future__ import annotations

from ferrox_gguf.cli.flags.flag import Action, Flag, Group

ROWS = (
    Flag(names=("-h", "--help", "--usage"), group=Group.HELP, sets=Action.HELP, help="this text"),
    Flag(names=("--version",), group=Group.HELP, sets=Action.VERSION, help="versions of ferrox-gguf and of llama.cpp"),
    Flag(
        names=("-cl", "--cache-list"),
        group=Group.HELP,
        sets=Action.CACHE_LIST,
        help="GGUF files that earlier downloads left in the shared cache",
    ),
    Flag(
        names=("--completion-bash",),
        group=Group.HELP,
        sets=Action.COMPLETION_BASH,
        help="a completion script: source <(ferrox-server --completion-bash)",
    ),
    Flag(
        names=("--list-devices",),
        group=Group.HELP,
        sets=Action.LIST_DEVICES,
        help="devices that the installed llama.cpp build can use, for --device",
    ),
)
