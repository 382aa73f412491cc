"""Options for tests that compare logits."""

from __future__ import annotations

from pathlib import Path

from ferrox_gguf.llama.options import CacheType, FlashAttention, ModelOptions


def exact(path: Path, **changes: object) -> ModelOptions:
    """Options under which two readings of the same tokens agree to 1e-3: F32 cells, no flash attention."""
    options: dict[str, object] = {
        "n_ctx": 1024,
        "n_parallel": 4,
        "kv_unified": True,
        "n_threads": 1,
        "n_ubatch": 128,
        "cache_type_k": CacheType.F32,
        "cache_type_v": CacheType.F32,
        "flash_attention": FlashAttention.OFF,
        **changes,
    }
    return ModelOptions(str(path), **options)  # type: ignore[arg-type]
