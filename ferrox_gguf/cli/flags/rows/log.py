"""What is written while the server runs, and where."""

from __future__ import annotations

from dataclasses import replace

from ferrox_gguf.cli.flags.flag import Flag, Group
from ferrox_gguf.cli.flags.values import integer, new_folder, on_off_auto, text
from ferrox_gguf.settings import Settings

EVERYTHING = 5


def verbose(settings: Settings, value: object) -> Settings:
    """All that can be said."""
    return replace(settings, log=replace(settings.log, verbosity=EVERYTHING)) if value else settings


ROWS = (
    Flag(
        names=("-lv", "--verbosity", "--log-verbosity"),
        group=Group.LOG,
        value=integer(0),
        env=("LLAMA_ARG_LOG_VERBOSITY",),
        sets="log.verbosity",
        help="how much to say: 1 errors, 2 warnings, 3 information, 4 more of it, 5 everything",
    ),
    Flag(
        names=("-v", "--verbose", "--log-verbose"),
        group=Group.LOG,
        sets=verbose,
        default="off",
        help="say everything",
    ),
    Flag(
        names=("--log-disable",),
        group=Group.LOG,
        sets="log.enabled",
        switched_on=False,
        default="off",
        help="say nothing",
    ),
    Flag(
        names=("--log-file",),
        group=Group.LOG,
        value=text("FNAME"),
        env=("LLAMA_ARG_LOG_FILE",),
        sets="log.file",
        help="write the log to this file too",
    ),
    Flag(
        names=("--log-jsonl",),
        off=("--no-log-jsonl",),
        group=Group.LOG,
        env=("LLAMA_ARG_LOG_JSONL",),
        sets="log.jsonl",
        help="one JSON object a line, on standard output, without colours",
    ),
    Flag(
        names=("--log-colors",),
        group=Group.LOG,
        value=on_off_auto(auto="auto", on="on", off="off"),
        env=("LLAMA_ARG_LOG_COLORS",),
        sets="log.colors",
        help="colours; auto: on a terminal",
    ),
    Flag(
        names=("--log-prefix",),
        off=("--no-log-prefix",),
        group=Group.LOG,
        env=("LLAMA_ARG_LOG_PREFIX",),
        sets="log.prefix",
        help="begin each line with its level",
    ),
    Flag(
        names=("--log-timestamps",),
        off=("--no-log-timestamps",),
        group=Group.LOG,
        env=("LLAMA_ARG_LOG_TIMESTAMPS",),
        sets="log.timestamps",
        help="begin each line with the time",
    ),
    Flag(
        names=("--log-prompts-dir",),
        group=Group.LOG,
        value=new_folder(),
        sets="log.prompts_path",
        default="off",
        help="write every prompt into this folder, to find out what a client sent",
    ),
)
