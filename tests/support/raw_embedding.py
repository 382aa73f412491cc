"""llama.cpp's own embeddings: a bare context of the low-level API, with nothing of ours in between."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import llama_cpp as ll
import numpy as np

POOLINGS = ("none", "mean", "cls", "last", "rank")


class RawEmbedding:
    """One context: one thread; F32 cells and no flash attention unless `as_served`. Close it."""

    def __init__(self, path: Path, pooling: str = "", *, as_served: bool = False) -> None:
        ll.llama_backend_init()
        self._model = ll.llama_model_load_from_file(str(path).encode(), ll.llama_model_default_params())
        params = ll.llama_context_default_params()
        params.embeddings = True
        params.n_ctx = params.n_batch = 1024
        params.n_ubatch = 512
        params.n_seq_max = 16
        params.kv_unified = True
        params.n_threads = params.n_threads_batch = 1
        if not as_served:
            params.type_k = params.type_v = 0
            params.flash_attn_type = 0
        params.pooling_type = POOLINGS.index(pooling) if pooling else -1
        self._context = ll.llama_init_from_model(self._model, params)

    def embed(self, tokens: Sequence[int]) -> np.ndarray:
        """(1, width) pooled, (tokens, width) without pooling."""
        self._decode([tokens])
        if self._pooling == "none":
            return self._rows([ll.llama_get_embeddings_ith(self._context, at) for at in range(len(tokens))])
        return self._rows([ll.llama_get_embeddings_seq(self._context, 0)])

    def embed_together(self, inputs: Sequence[Sequence[int]]) -> np.ndarray:
        """(inputs, width): all in one batch."""
        self._decode(inputs)
        return self._rows([ll.llama_get_embeddings_seq(self._context, at) for at in range(len(inputs))])

    def _decode(self, inputs: Sequence[Sequence[int]]) -> None:
        batch = ll.llama_batch_init(sum(map(len, inputs)), 0, 1)
        memory = ll.llama_get_memory(self._context)
        if memory:
            ll.llama_memory_clear(memory, True)
        row = 0
        for number, tokens in enumerate(inputs):
            for at, token in enumerate(tokens):
                batch.token[row], batch.pos[row], batch.n_seq_id[row], batch.logits[row] = token, at, 1, 1
                batch.seq_id[row][0] = number
                row += 1
        batch.n_tokens = row
        assert ll.llama_decode(self._context, batch) == 0
        ll.llama_batch_free(batch)

    @property
    def _pooling(self) -> str:
        return POOLINGS[ll.llama_pooling_type(self._context)]

    def _rows(self, pointers: Sequence[object]) -> np.ndarray:
        ranks = self._pooling == "rank"
        width = ll.llama_model_n_cls_out(self._model) if ranks else ll.llama_model_n_embd_out(self._model)
        floats = ctypes.POINTER(ctypes.c_float)
        return np.stack([np.ctypeslib.as_array(ctypes.cast(one, floats), (width,)) for one in pointers]).copy()

    def close(self) -> None:
        ll.llama_free(self._context)
        ll.llama_model_free(self._model)
