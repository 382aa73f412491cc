"""Texts to vectors and scores: tokenised on worker threads, read by the embedder, awaited on the event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from ferrox_gguf.engine.embedder import Embedder, Vectors
from ferrox_gguf.errors import FerroxError, InputTooLarge, InvalidField, PromptTooLong
from ferrox_gguf.request import Prompt
from ferrox_gguf.runtime.prompt import prompt_tokens
from ferrox_gguf.runtime.rerank import pair_tokens
from ferrox_gguf.runtime.vocabulary import Vocabulary

Inputs = Sequence[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class InputLimits:
    """Tokens. context: of one slot.  batch: of a micro-batch, None where an input may be read in pieces."""

    context: int
    batch: int | None


class Embeddings:
    """One model that reads.

    pooled: an input becomes one vector, not one a token.  ranks: that vector is a score.
    rerank_template: the file's own, None without one.
    """

    def __init__(
        self,
        embedder: Embedder,
        vocabulary: Vocabulary,
        limits: InputLimits,
        *,
        pooled: bool,
        ranks: bool,
        rerank_template: str | None = None,
    ) -> None:
        self.pooled, self.ranks = pooled, ranks
        self._embedder, self._vocabulary, self._limits = embedder, vocabulary, limits
        self._template = rerank_template

    def inputs(self, prompts: Sequence[Prompt]) -> Inputs:
        """Blocks. Raises InvalidField for an input without a token."""
        return some([tuple(prompt_tokens(prompt.pieces, self._vocabulary, add_special=True)) for prompt in prompts])

    def pairs(self, query: str, documents: Sequence[str]) -> Inputs:
        """Blocks. Raises InvalidField for a pair without a token."""
        return some([pair_tokens(query, document, self._vocabulary, self._template) for document in documents])

    async def read(self, inputs: Inputs) -> Sequence[Vectors]:
        """A result for each input. Raises InputTooLarge or PromptTooLong, with nothing read, for one that cannot be.

        Cancelled: what was not read yet is dropped.
        """
        for tokens in inputs:
            self._check(len(tokens))
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Sequence[Vectors]] = loop.create_future()

        def done(outcome: Sequence[Vectors] | FerroxError) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has closed: nobody is left to tell
                loop.call_soon_threadsafe(settle, future, outcome)

        handle = self._embedder.submit(inputs, done)
        try:
            return await future
        finally:
            self._embedder.cancel(handle)

    def _check(self, count: int) -> None:
        limits = self._limits
        if limits.batch is not None and count > limits.batch:
            raise InputTooLarge(tokens=count, batch_tokens=limits.batch)
        if count > limits.context:
            raise PromptTooLong(prompt_tokens=count, context_tokens=limits.context)


def some(inputs: Inputs) -> Inputs:
    if not all(inputs):
        raise InvalidField("input", "must not be empty: this model puts no token around a text")
    return inputs


def settle(future: asyncio.Future[Sequence[Vectors]], outcome: Sequence[Vectors] | FerroxError) -> None:
    """A reader that has left has cancelled its future."""
    if future.done():
        return
    if isinstance(outcome, FerroxError):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
