"""Reading whole inputs for their embeddings: one batch, one sequence id an input, nothing kept afterwards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ferrox_gguf.llama.context import Context
from ferrox_gguf.llama.options import Pooling


class EmbeddingBatches:
    """A context started for embeddings. Call from the thread that owns it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.n_tokens = min(context.n_batch, context.n_ubatch, context.slot_context)
        self.n_inputs = context.n_slots

    def embed(self, inputs: Sequence[Sequence[int]]) -> list[NDArray[np.float32]]:
        """Vectors of each input: (1, width), or (tokens, width) when the context pools nothing.

        At most n_inputs inputs of at most n_tokens tokens in all. Raises DecodeFailed or KVCacheFull.
        """
        context, batch = self._context, self._context.batch
        batch.clear()
        if context.memory.exists:
            context.memory.clear_all()
        starts = []
        for slot, tokens in enumerate(inputs):
            starts.append(batch.n_tokens)
            batch.add(tokens, slot=slot, start=0, output=True, all_outputs=True)
        context.decode(batch)
        if context.pooling is Pooling.NONE:
            return [
                np.stack([context.embedding(start + row) for row in range(len(tokens))])
                for start, tokens in zip(starts, inputs, strict=True)
            ]
        return [context.pooled(slot)[np.newaxis] for slot in range(len(inputs))]
