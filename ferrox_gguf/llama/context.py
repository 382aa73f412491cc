"""The one thing that computes: a llama.cpp context with its cache.

It belongs to the thread that decodes. Everything that would end the process (too many rows, a row without logits) is
refused here first, as a ValueError: those are our own mistakes, never a client's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import llama_cpp as ll
import numpy as np
from numpy.typing import NDArray

from ferrox_gguf.errors import StartupError
from ferrox_gguf.llama import library
from ferrox_gguf.llama.adapter import Adapter, apply_adapters
from ferrox_gguf.llama.batch import Batch
from ferrox_gguf.llama.footprint import refuse_too_large
from ferrox_gguf.llama.memory import Memory
from ferrox_gguf.llama.model import Model
from ferrox_gguf.llama.options import Attention, CacheType, FlashAttention, ModelOptions, Pooling, RopeScaling
from ferrox_gguf.llama.threads import default_threads
from ferrox_gguf.llama.views import floats

_CACHE = {
    CacheType.F32: 0,
    CacheType.F16: 1,
    CacheType.Q4_0: 2,
    CacheType.Q4_1: 3,
    CacheType.Q5_0: 6,
    CacheType.Q5_1: 7,
    CacheType.Q8_0: 8,
    CacheType.IQ4_NL: 20,
    CacheType.BF16: 30,
}
_FLASH = {FlashAttention.AUTO: -1, FlashAttention.OFF: 0, FlashAttention.ON: 1}
_ROPE = {RopeScaling.MODEL: -1, RopeScaling.NONE: 0, RopeScaling.LINEAR: 1, RopeScaling.YARN: 2}
_POOLING = {
    Pooling.MODEL: -1,
    Pooling.NONE: 0,
    Pooling.MEAN: 1,
    Pooling.CLS: 2,
    Pooling.LAST: 3,
    Pooling.RANK: 4,
}
_ATTENTION = {Attention.MODEL: -1, Attention.CAUSAL: 0, Attention.NON_CAUSAL: 1}
_CELL_STEP = 256
"""llama.cpp rounds a cache up to whole groups of this many cells."""


class KVCacheFull(Exception):
    """There are not enough free cells. Nothing was evaluated: retry with fewer tokens."""


class DecodeFailed(Exception):
    """The batch could not be computed. Part may have been: drop the sequences in it. code: llama_decode's."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"llama_decode failed with {code}" + (f": {reason}" if reason else ""))
        self.code = code


class Context:
    """Decodes batches for up to `n_slots` sequences, which share one cache of `n_ctx` cells or have equal parts of it.

    slot_context: tokens (prompt and answer) that one request may have.
    Raises StartupError when llama.cpp cannot make it (too large a context, an impossible combination).
    """

    def __init__(self, model: Model, options: ModelOptions) -> None:
        self.model = model
        self.n_slots = options.slots
        self.embeds = options.embeddings
        if not 1 <= self.n_slots <= library.max_sequences():
            raise StartupError(f"the number of slots must be between 1 and {library.max_sequences()}")
        total, limit = context_sizes(options, model.n_ctx_train)
        unified = _is_unified(model, options)
        refuse_too_large(model, options, total)
        n_batch = min(options.n_batch, options.n_ubatch) if self.embeds else options.n_batch
        self.n_outputs_max = options.n_outputs or (n_batch if self.embeds or model.has_encoder else self.n_slots)
        library.forget_errors()
        pointer = ll.llama_init_from_model(model.pointer, self._params(options, total, n_batch, unified=unified))
        if not pointer:
            reason = library.first_error() or "llama.cpp gave no reason"
            raise StartupError(f"cannot make a context of {total} tokens for {options.path}: {reason}")
        self.pointer = int(pointer)
        self.n_ctx = int(ll.llama_n_ctx(pointer))
        self.n_batch = int(ll.llama_n_batch(pointer))
        self.n_ubatch = int(ll.llama_n_ubatch(pointer))
        self.slot_context = min(limit, self.n_ctx)
        self.pooling = Pooling(
            next(key.value for key, code in _POOLING.items() if code == ll.llama_pooling_type(pointer))
        )
        self.causal = bool(ll.llama_get_causal_attn(pointer))
        self.batch = Batch(self.n_batch)
        self.memory = Memory(
            self.pointer,
            model,
            n_cells=self.n_ctx,
            n_slots=self.n_slots,
            swa_full=options.swa_full,
            shares_cells=unified,
        )
        self._n_vocab = int(ll.llama_vocab_n_tokens(ll.llama_model_get_vocab(model.pointer)))

    def _params(self, options: ModelOptions, total: int, n_batch: int, *, unified: bool) -> Any:
        params = ll.llama_context_default_params()
        threads = options.n_threads if options.n_threads > 0 else default_threads()
        params.n_ctx = total
        params.n_batch = n_batch
        params.n_ubatch = options.n_ubatch
        params.n_seq_max = self.n_slots
        params.n_outputs_max = self.n_outputs_max
        params.n_threads = threads
        params.n_threads_batch = options.n_threads_batch if options.n_threads_batch > 0 else threads
        params.pooling_type = _POOLING[options.pooling]
        params.attention_type = _ATTENTION[options.attention]
        params.flash_attn_type = _FLASH[options.flash_attention]
        params.type_k = _CACHE[options.cache_type_k]
        params.type_v = _CACHE[options.cache_type_v]
        params.rope_scaling_type = _ROPE[options.rope.scaling]
        params.rope_freq_base = options.rope.frequency_base
        params.rope_freq_scale = options.rope.frequency_scale
        params.yarn_ext_factor = options.rope.yarn_extrapolation
        params.yarn_attn_factor = options.rope.yarn_attention
        params.yarn_beta_fast = options.rope.yarn_beta_fast
        params.yarn_beta_slow = options.rope.yarn_beta_slow
        params.yarn_orig_ctx = options.rope.yarn_original_context
        params.embeddings = options.embeddings
        params.offload_kqv = options.kv_offload
        params.op_offload = options.op_offload
        params.swa_full = options.swa_full
        params.kv_unified = unified
        params.no_perf = True
        return params

    def decode(self, batch: Batch) -> None:
        """Evaluate a batch; logits become readable until the next decode.

        Shape: n tokens, 1 ≤ n ≤ n_batch → (n_outputs, n_vocab) float32, owned by llama.cpp.
        Blocks for one forward pass, GIL released.
        Raises KVCacheFull (nothing was evaluated) or DecodeFailed (part may have been).
        Source: return codes of llama_decode in llama.h.
        """
        if not 1 <= batch.n_tokens <= self.n_batch:
            raise ValueError(f"a batch has 1 to {self.n_batch} tokens, not {batch.n_tokens}")
        if batch.n_outputs > self.n_outputs_max:
            raise ValueError(f"a batch has at most {self.n_outputs_max} outputs, not {batch.n_outputs}")
        if not self.causal and batch.n_tokens > self.n_ubatch:
            raise ValueError(f"a non-causal batch has at most {self.n_ubatch} tokens, not {batch.n_tokens}")
        batch.native.n_tokens = batch.n_tokens
        code = int(ll.llama_decode(self.pointer, batch.native))
        if code == 0:
            return
        if code == 1:
            raise KVCacheFull
        reason = library.first_error()
        library.forget_errors()
        raise DecodeFailed(code, reason)

    def logits(self, row: int) -> NDArray[np.float32]:
        """The logits of one batch row, as a view that the next decode overwrites. Shape (n_vocab,)."""
        self.require_output(row)
        return floats(ll.llama_get_logits_ith(self.pointer, row), self._n_vocab)

    def embedding(self, row: int) -> NDArray[np.float32]:
        """The hidden state of one output row (pooling none), copied. Shape (n_embd_out,)."""
        self.require_output(row)
        hidden: NDArray[np.float32] = floats(
            ll.llama_get_embeddings_ith(self.pointer, row), self.model.n_embd_out
        ).copy()
        return hidden

    def pooled(self, slot: int) -> NDArray[np.float32]:
        """The pooled embedding of one slot's sequence in this batch, copied; rank pooling: (n scores,)."""
        width = self.model.classifier_outputs if self.pooling is Pooling.RANK else self.model.n_embd_out
        pooled: NDArray[np.float32] = floats(ll.llama_get_embeddings_seq(self.pointer, slot), width).copy()
        return pooled

    def require_output(self, row: int) -> None:
        """Raise ValueError unless the last batch asked for this row's output: llama.cpp would end the process."""
        batch = self.batch
        if not 0 <= row < batch.n_tokens or not batch.outputs[row]:
            raise ValueError(f"row {row} of the batch has no output")

    def set_adapters(self, adapters: Sequence[tuple[Adapter, float]]) -> None:
        """Make this the whole set of LoRA adapters for the following decodes."""
        apply_adapters(self.pointer, list(adapters))

    def set_threads(self, generation: int, batch: int) -> None:
        ll.llama_set_n_threads(self.pointer, generation, batch)

    @property
    def threads(self) -> tuple[int, int]:
        """Threads used for one token, and for many."""
        return int(ll.llama_n_threads(self.pointer)), int(ll.llama_n_threads_batch(self.pointer))

    def close(self) -> None:
        """Free the cache. Samplers and views of logits must not be used afterwards."""
        if self.pointer:
            ll.llama_free(self.pointer)
            self.pointer = 0


def context_sizes(options: ModelOptions, n_ctx_train: int) -> tuple[int, int]:
    """(cells in all, tokens that one request may use), by llama-server's rules.

    Slots that do not share get equal parts, rounded up to what llama.cpp allocates; no request goes past the trained
    context.
    """
    total = options.n_ctx
    if total == 0:
        total = options.n_ctx_per_slot * options.slots or n_ctx_train
    total = _round_up(total)
    limit = total
    if not options.shares_context:
        limit = _round_up(max(1, total // options.slots))
        total = limit * options.slots
    if options.n_ctx_per_slot:
        limit = min(limit, options.n_ctx_per_slot)
    return total, min(limit, n_ctx_train)


def _is_unified(model: Model, options: ModelOptions) -> bool:
    """Is there one cache for all slots? Else each has its own, and attention passes over nobody else's cells.

    Embeddings read many inputs in one batch, whatever their slots are. What a window or a recurrent state has left
    behind is in no saved state, so that where each slot had its own, a prefix could seldom be taken over from another.
    """
    if options.shares_context or options.embeddings or options.slots == 1:
        return True
    return model.is_recurrent or model.is_hybrid or (model.n_swa > 0 and not options.swa_full)


def _round_up(tokens: int) -> int:
    return (tokens + _CELL_STEP - 1) // _CELL_STEP * _CELL_STEP
