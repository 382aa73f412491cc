"""Every flag, in the order of `--help`."""

from __future__ import annotations

from collections.abc import Mapping

from ferrox_gguf.cli.flags.flag import Flag
from ferrox_gguf.cli.flags.rows import (
    access,
    adapter,
    agent,
    cache,
    chat,
    constraint,
    context,
    cpu,
    draft,
    endpoint,
    gpu,
    help,
    listen,
    log,
    media,
    model,
    preset,
    reasoning,
    rope,
    router,
    sampling,
    vector,
)

FLAGS: tuple[Flag, ...] = (
    *help.ROWS,
    *model.ROWS,
    *context.ROWS,
    *cache.ROWS,
    *cpu.ROWS,
    *gpu.ROWS,
    *rope.ROWS,
    *sampling.ROWS,
    *constraint.ROWS,
    *chat.ROWS,
    *reasoning.ROWS,
    *listen.ROWS,
    *access.ROWS,
    *endpoint.ROWS,
    *vector.ROWS,
    *adapter.ROWS,
    *log.ROWS,
    *draft.ROWS,
    *media.ROWS,
    *router.ROWS,
    *agent.ROWS,
    *preset.ROWS,
)


def by_spelling(flags: tuple[Flag, ...] = FLAGS) -> Mapping[str, tuple[Flag, bool]]:
    """Each spelling → its flag, and whether it switches it on."""
    spellings = {name: (flag, True) for flag in flags for name in flag.names}
    return spellings | {name: (flag, False) for flag in flags for name in flag.off}
