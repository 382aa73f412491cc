"""A GGUF behind the real HTTP stack, in the test's process."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from support.serving import serving

from ferrox_gguf.runtime.load import assemble
from ferrox_gguf.server.ready import make_ready
from ferrox_gguf.server.state import Ready
from ferrox_gguf.settings import ContextSettings, CpuSettings, ModelSettings, Settings

EXACT = ContextSettings(
    n_ctx=1024,
    n_parallel=2,
    kv_unified=True,
    n_ubatch=128,
    cpu=CpuSettings(n_threads=1),
    flash_attention="off",
    cache_type_k="f32",
    cache_type_v="f32",
)
"""`-fa off -ctk f32 -ctv f32 -t 1`: two readings of the same tokens then agree to 1e-3."""


def serving_file(path: Path, **changes: object) -> AbstractContextManager[str]:
    """changes: of Settings; the context is EXACT unless they say otherwise."""
    options: dict[str, object] = {"context": EXACT, **changes}
    settings = replace(Settings(), model=replace(ModelSettings(), path=str(path), warmup=False), **options)  # type: ignore[arg-type]

    def ready() -> Ready:
        assembled = assemble(settings, asyncio.get_running_loop())
        assembled.engine.start()
        return make_ready(settings, assembled)

    return serving(ready, settings)
