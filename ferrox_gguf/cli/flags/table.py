"""Every flag, in the order of `--help`."""

from __future__ import annotations

from collections.abc import Mapping

from ferrox_gguf.cli.flags.flag import Flag
from ferrox_gguf.cli.flags.rows import (
    absent,
    adapter,
    chat,
    compute,
    context,
    help,
    log,
    model,
    preset,
    sampling,
    server,
)

FLAGS: tuple[Flag, ...] = (
    *help.ROWS,
    *model.ROWS,
    *context.CONTEXT_ROWS,
    *context.CACHE_ROWS,
    *compute.CPU_ROWS,
    *compute.GPU_ROWS,
    *context.ROPE_ROWS,
    *sampling.SAMPLING_ROWS,
    *sampling.CONSTRAINT_ROWS,
    *chat.CHAT_ROWS,
    *chat.REASONING_ROWS,
    *server.LISTEN_ROWS,
    *server.ACCESS_ROWS,
    *server.ENDPOINT_ROWS,
    *server.VECTOR_ROWS,
    *adapter.ROWS,
    *log.ROWS,
    *absent.DRAFT_ROWS,
    *absent.MEDIA_ROWS,
    *absent.ROUTER_ROWS,
    *absent.AGENT_ROWS,
    *preset.ROWS,
)


def by_spelling(flags: tuple[Flag, ...] = FLAGS) -> Mapping[str, tuple[Flag, bool]]:
    """Each spelling → its flag, and whether it switches it on."""
    spellings = {name: (flag, True) for flag in flags for name in flag.names}
    return spellings | {name: (flag, False) for flag in flags for name in flag.off}
