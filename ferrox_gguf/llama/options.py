"""Everything that decides how a model is loaded and what its context can hold, as one frozen value.

`cli/` fills it from flags; `model.py` and `context.py` hand it to llama.cpp. Defaults are llama-server's. Nothing here
imports llama.cpp, so that flags can be parsed (and refused) before the library is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, Union

AUTO_SLOTS = 4
"""Slots of `-np -1`; they share all of `-c`, as llama-server's automatic choice does."""


class CacheType(Enum):
    """Element type of the K or V cache, in llama-server's words (`-ctk`, `-ctv`)."""

    F32 = "f32"
    F16 = "f16"
    BF16 = "bf16"
    Q8_0 = "q8_0"
    Q4_0 = "q4_0"
    Q4_1 = "q4_1"
    IQ4_NL = "iq4_nl"
    Q5_0 = "q5_0"
    Q5_1 = "q5_1"


class FlashAttention(Enum):
    """`-fa`."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class RopeScaling(Enum):
    """`--rope-scaling`; MODEL is what the file says."""

    MODEL = "model"
    NONE = "none"
    LINEAR = "linear"
    YARN = "yarn"


class SplitMode(Enum):
    """`-sm`: how a model is laid over several devices."""

    NONE = "none"
    LAYER = "layer"
    ROW = "row"
    TENSOR = "tensor"


class LoadMode(Enum):
    """`-lm`: how the file reaches memory."""

    AUTO = "auto"
    NONE = "none"
    MMAP = "mmap"
    MLOCK = "mlock"
    MMAP_MLOCK = "mmap+mlock"
    DIRECT_IO = "dio"


class LazyMode(Enum):
    """`-lzm`: whether rows of marked tensors are read on demand."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class Pooling(Enum):
    """`--pooling`: how a sequence's hidden states become one embedding; MODEL is what the file says."""

    MODEL = "model"
    NONE = "none"
    MEAN = "mean"
    CLS = "cls"
    LAST = "last"
    RANK = "rank"


class Attention(Enum):
    """`--attention`: causal or not; MODEL is what the file says."""

    MODEL = "model"
    CAUSAL = "causal"
    NON_CAUSAL = "non-causal"


class Numa(Enum):
    """`--numa`."""

    OFF = "off"
    DISTRIBUTE = "distribute"
    ISOLATE = "isolate"
    NUMACTL = "numactl"


KvOverrideValue: TypeAlias = Union[bool, int, float, str]


@dataclass(frozen=True, slots=True)
class Rope:
    """Position scaling. Zeros and negatives mean "as the model says", in llama.cpp's own convention.

    frequency_scale: llama-server's `--rope-scale N` is 1/N here.
    """

    scaling: RopeScaling = RopeScaling.MODEL
    frequency_base: float = 0.0
    frequency_scale: float = 0.0
    yarn_original_context: int = 0
    yarn_extrapolation: float = -1.0
    yarn_attention: float = -1.0
    yarn_beta_fast: float = -1.0
    yarn_beta_slow: float = -1.0


@dataclass(frozen=True, slots=True)
class LoraFile:
    """One adapter to load. scale: as applied at start (0 with `--lora-init-without-apply`)."""

    path: str
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class ControlVectorFile:
    """One control vector to add, times scale."""

    path: str
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How to load one GGUF and how big its context is. Sizes in tokens unless said.

    n_gpu_layers: -1 auto or all (llama.cpp takes a negative number as all layers).
    n_ctx: the cache's total; 0 the model's trained context.
    n_parallel: slots; -1 means AUTO_SLOTS which share the whole n_ctx.
    kv_unified: may one request use all of n_ctx (True), or only its n_ctx / n_parallel (False)?  None: True exactly
        when n_parallel is -1, as llama-server decides.  Slots that do not share have caches of their own, and attention
        passes over none but its own sequence's cells.
    n_ctx_per_slot: what one request may use at most (`--kv-unified-per-slot`); 0 no such limit. With n_ctx 0 the
        total is this times the slots.
    n_threads: -1 all physical cores;  n_threads_batch: -1 as n_threads.
    devices: names as `--list-devices` prints them, ("none",) for the CPU alone, () for llama.cpp's own choice.
    tensor_split: proportions, one a device.
    tensor_buffers: (tensor name pattern, buffer type) pairs (`-ot`).
    override_kv: metadata key and the value to put in its place.
    n_outputs: rows whose logits one batch may keep; 0: one a slot, or every row for embeddings.
    """

    path: str
    n_gpu_layers: int = -1
    n_ctx: int = 0
    n_batch: int = 2048
    n_ubatch: int = 512
    n_parallel: int = -1
    kv_unified: bool | None = None
    n_ctx_per_slot: int = 0
    n_threads: int = -1
    n_threads_batch: int = -1
    cache_type_k: CacheType = CacheType.F16
    cache_type_v: CacheType = CacheType.F16
    flash_attention: FlashAttention = FlashAttention.AUTO
    swa_full: bool = False
    rope: Rope = field(default_factory=Rope)
    load_mode: LoadMode = LoadMode.AUTO
    lazy_mode: LazyMode = LazyMode.AUTO
    split_mode: SplitMode = SplitMode.LAYER
    main_gpu: int = 0
    tensor_split: tuple[float, ...] = ()
    devices: tuple[str, ...] = ()
    tensor_buffers: tuple[tuple[str, str], ...] = ()
    override_kv: tuple[tuple[str, KvOverrideValue], ...] = ()
    check_tensors: bool = False
    repack: bool = True
    no_host: bool = False
    kv_offload: bool = True
    op_offload: bool = True
    embeddings: bool = False
    pooling: Pooling = Pooling.MODEL
    attention: Attention = Attention.MODEL
    lora: tuple[LoraFile, ...] = ()
    control_vectors: tuple[ControlVectorFile, ...] = ()
    control_vector_layers: tuple[int, int] | None = None
    numa: Numa = Numa.OFF
    n_outputs: int = 0
    warmup: bool = True

    @property
    def slots(self) -> int:
        """Sequences that can be held at once."""
        return AUTO_SLOTS if self.n_parallel < 0 else self.n_parallel

    @property
    def shares_context(self) -> bool:
        """May one request use the whole cache?"""
        return self.n_parallel < 0 if self.kv_unified is None else self.kv_unified
