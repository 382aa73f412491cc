"""Reading whole inputs for their embeddings: one batch, one sequence id an input, nothing kept afterwards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ferrox_gguf.llama.adapter import Adapter
from ferrox_gguf.llama.context import Context
from ferrox_gguf.llama.options import Pooling


class EmbeddingBatches:
    """A context started for embeddings. Call from the thread that owns it, but for use().

    n_tokens, n_inputs: of one batch.  longest: of one input; more than a batch where the last token alone counts and
    what came before it stays in the cache, so that an input can be read in pieces.
    """

    def __init__(self, context: Context, adapters: Sequence[tuple[Adapter, float]] = ()) -> None:
        self._context = context
        self.n_tokens = min(context.n_batch, context.n_ubatch, context.slot_context)
        self.n_inputs = context.n_slots
        self.longest = context.slot_context if reads_in_pieces(context) else self.n_tokens
        self._adapters, self._applied = tuple(adapters), False

    def use(self, adapters: Sequence[tuple[Adapter, float]]) -> None:
        """Make this the set of LoRA adapters from the next batch on. From any thread."""
        self._adapters, self._applied = tuple(adapters), False

    def embed(self, inputs: Sequence[Sequence[int]]) -> list[NDArray[np.float32]]:
        """Vectors of each input: (1, width), or (tokens, width) when the context pools nothing.

        Inputs that fit one batch together, or one that is longer. Raises DecodeFailed or KVCacheFull.
        """
        context, batch = self._context, self._context.batch
        if not self._applied:
            self._applied = True
            context.set_adapters(self._adapters)
        if context.memory.exists:
            context.memory.clear_all()
        batch.clear()
        if len(inputs) == 1 and len(inputs[0]) > self.n_tokens:
            return [self._embed_in_pieces(inputs[0])]
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

    def _embed_in_pieces(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        for start in range(0, len(tokens), self.n_tokens):
            piece = tokens[start : start + self.n_tokens]
            self._context.batch.clear()
            self._context.batch.add(piece, slot=0, start=start, output=True, all_outputs=True)
            self._context.decode(self._context.batch)
        return self._context.pooled(0)[np.newaxis]


def reads_in_pieces(context: Context) -> bool:
    """Does the last token's vector, from a causal model with a cache, stand for the whole input?"""
    return context.memory.exists and context.causal and context.pooling in (Pooling.LAST, Pooling.RANK)
