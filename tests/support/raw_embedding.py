"""llama.cpp's own embedding of one input: a bare context of the low-level API, with nothing of ours in between."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import llama_cpp as ll
import numpy as np

POOLINGS = ("none", "mean", "cls", "last", "rank")


class RawEmbedding:
    """One context: one thread, F32 cells, no flash attention. Close it."""

    def __init__(self, path: Path, pooling: str = "", n_ubatch: int = 512) -> None:
        ll.llama_backend_init()
        self._model = ll.llama_model_load_from_file(str(path).encode(), ll.llama_model_default_params())
        params = ll.llama_context_default_params()
        params.embeddings = True
        params.n_ctx = params.n_batch = 1024
        params.n_ubatch = n_ubatch
        params.n_threads = params.n_threads_batch = 1
        params.type_k = params.type_v = 0
        params.flash_attn_type = 0
        params.pooling_type = POOLINGS.index(pooling) if pooling else -1
        self._context = ll.llama_init_from_model(self._model, params)

    def embed(self, tokens: Sequence[int]) -> np.ndarray:
        """(1, width) pooled, (tokens, width) without pooling."""
        batch = ll.llama_batch_init(len(tokens), 0, 1)
        memory = ll.llama_get_memory(self._context)
        if memory:
            ll.llama_memory_clear(memory, True)
        batch.n_tokens = len(tokens)
        for at, token in enumerate(tokens):
            batch.token[at], batch.pos[at], batch.n_seq_id[at], batch.logits[at] = token, at, 1, 1
            batch.seq_id[at][0] = 0
        assert ll.llama_decode(self._context, batch) == 0
        pooling, width = ll.llama_pooling_type(self._context), ll.llama_model_n_embd_out(self._model)
        if pooling == POOLINGS.index("none"):
            rows = [ll.llama_get_embeddings_ith(self._context, at) for at in range(len(tokens))]
        else:
            rows = [ll.llama_get_embeddings_seq(self._context, 0)]
        if pooling == POOLINGS.index("rank"):
            width = ll.llama_model_n_cls_out(self._model)
        found = np.stack(
            [np.ctypeslib.as_array(ctypes.cast(row, ctypes.POINTER(ctypes.c_float)), (width,)) for row in rows]
        )
        ll.llama_batch_free(batch)
        return found.copy()

    def close(self) -> None:
        ll.llama_free(self._context)
        ll.llama_model_free(self._model)
