"""What a context will cost, before llama.cpp touches the memory: too large a one would take the machine down with it.

llama.cpp asks the system for the cache, which promises more than it has, and then clears it, which makes it real. So a
context that cannot fit is refused here. The estimate is from below: what is not known counts as nothing.
"""

from __future__ import annotations

from pathlib import Path

from ferrox_gguf.errors import StartupError
from ferrox_gguf.llama.devices import describe_devices
from ferrox_gguf.llama.model import Model
from ferrox_gguf.llama.options import CacheType, ModelOptions

CELL_BYTES = 52
"""llama.cpp's own record of a cell: position, shift, extra coordinates, and one bit for each of 256 sequences."""

BYTES_PER_ELEMENT = {
    CacheType.F32: 4.0,
    CacheType.F16: 2.0,
    CacheType.BF16: 2.0,
    CacheType.Q8_0: 34 / 32,
    CacheType.Q5_1: 24 / 32,
    CacheType.Q5_0: 22 / 32,
    CacheType.Q4_1: 20 / 32,
    CacheType.Q4_0: 18 / 32,
    CacheType.IQ4_NL: 18 / 32,
}


def refuse_too_large(model: Model, options: ModelOptions, n_ctx: int) -> None:
    """Raises StartupError when n_ctx cells need more memory than there is. Says nothing where that is not known."""
    available = available_bytes()
    needed = n_ctx * (CELL_BYTES + kv_bytes(model, options))
    if available is not None and needed > available:
        raise StartupError(
            f"a context of {n_ctx} tokens needs at least {_gib(needed)}, and {_gib(available)} of memory are free: "
            "lower -c, or -np, or choose a smaller -ctk and -ctv"
        )


def kv_bytes(model: Model, options: ModelOptions) -> float:
    """Of one token's keys and values in plain memory; 0 where layers differ (windows, states, compressed caches)."""
    if model.n_swa or model.is_recurrent or model.is_hybrid or not model.n_head or describe_devices():
        return 0
    architecture = model.architecture
    if model.meta(f"{architecture}.attention.kv_lora_rank"):
        return 0
    width = model.n_embd // model.n_head
    keys = int(model.meta(f"{architecture}.attention.key_length") or width)
    values = int(model.meta(f"{architecture}.attention.value_length") or width)
    types = BYTES_PER_ELEMENT[options.cache_type_k] * keys + BYTES_PER_ELEMENT[options.cache_type_v] * values
    return model.n_layer * model.n_head_kv * types


def available_bytes(root: Path = Path("/")) -> int | None:
    """Memory and swap that this process may still use; None where the system does not say (only Linux does).

    Of a container's limit nothing is taken off: what it says is used includes files that give way.
    """
    try:
        meminfo = dict(line.split(":", 1) for line in (root / "proc/meminfo").read_text().splitlines())
        free = sum(int(meminfo[key].split()[0]) for key in ("MemAvailable", "SwapFree")) * 1024
    except (OSError, KeyError, ValueError):
        return None
    try:
        return min(free, int((root / "sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):
        return free


def _gib(size: float) -> str:
    return f"{size / 2**30:.1f} GiB"
