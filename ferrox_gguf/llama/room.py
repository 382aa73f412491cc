"""A small context beside the main one, where short prompts that begin alike are read together, all in one cache.

llama.cpp's attention on the CPU works in tiles only from 64 rows of one cache on. Where each slot has a cache of its
own, a question of 26 tokens behind a long common beginning never fills a tile, and a token of it costs 11 ms instead of
8 at 450 tokens (SmolLM2-135M, two cores), twice as much at 1,500. Answers are better off in caches of their own. So
such questions are read here, after one copy of their beginning, and each state moves to its slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ferrox_gguf.errors import StartupError
from ferrox_gguf.llama.adapter import Adapter
from ferrox_gguf.llama.context import Context, DecodeFailed, KVCacheFull
from ferrox_gguf.llama.devices import describe_devices
from ferrox_gguf.llama.footprint import kv_bytes
from ferrox_gguf.llama.library import max_sequences
from ferrox_gguf.llama.loaded import LoadedModel, open_context
from ferrox_gguf.llama.memory import Memory
from ferrox_gguf.llama.moved import Mover
from ferrox_gguf.llama.options import CacheType, FlashAttention

_MOST_CELLS, _LEAST_CELLS = 4096, 512
_MOST_BYTES = 64 << 20
"""A model whose cells are larger has so many weights that attention hardly counts beside them."""
_PREFIX = 0
"""The sequence that keeps the common beginning."""


class RoomFailed(Exception):
    """Nothing was read here. The slots may have been changed: cut them to where they were."""


@dataclass(frozen=True, slots=True)
class Question:
    """The rest of a prompt: what `slot` lacks."""

    slot: int
    tokens: tuple[int, ...]


class Room:
    """One such context. Call from the thread that decodes. Raises RoomFailed when it cannot be made."""

    def __init__(self, loaded: LoadedModel, n_cells: int) -> None:
        options = replace(
            loaded.options,
            n_ctx=n_cells,
            n_batch=loaded.context.n_ubatch,
            n_parallel=min(loaded.context.n_slots + 1, max_sequences()),
            kv_unified=True,
            n_ctx_per_slot=0,
            n_outputs=0,
            warmup=False,
        )
        try:
            self.context: Context = open_context(loaded.model, loaded.vocab, options)
        except StartupError as error:
            raise RoomFailed(str(error)) from error
        self._main: Memory = loaded.context.memory
        self._mover = Mover(self._main, self.context.memory)
        self._prefix: tuple[int, ...] = ()

    def set_adapters(self, adapters: Sequence[tuple[Adapter, float]]) -> None:
        """For everything read from now on; what was read with others is forgotten."""
        self.context.set_adapters(adapters)
        self._forget()

    def read(self, prefix: tuple[int, ...], questions: Sequence[Question]) -> list[int]:
        """Evaluate all questions behind the prefix, which every one of their slots holds and nothing else.

        Afterwards each slot holds its question too. Returns the rows of `context` with the logits of the last tokens.
        """
        memory, start = self.context.memory, len(prefix)
        if len(questions) >= memory.traits.n_slots:
            raise RoomFailed("there are more questions than sequences")
        self._fetch(prefix, questions[0].slot)
        batch = self.context.batch
        batch.clear()
        rows = []
        for sequence, question in enumerate(questions, start=1):
            memory.share(_PREFIX, sequence, start)
            rows.append(batch.add(question.tokens, slot=sequence, start=start, output=True))
        try:
            self.context.decode(batch)
        except (DecodeFailed, KVCacheFull) as error:
            self._forget()
            raise RoomFailed(str(error) or "its cache is full") from error
        for sequence, question in enumerate(questions, start=1):
            end = start + len(question.tokens)
            if not self._mover.into_own(sequence, question.slot) or self._main.last_position(question.slot) != end - 1:
                self._forget()
                raise RoomFailed(f"slot {question.slot} did not take its state")
            memory.clear(sequence)
        return rows

    def close(self) -> None:
        self.context.close()

    def _fetch(self, prefix: tuple[int, ...], slot: int) -> None:
        """Let the first sequence hold the prefix; often it still does."""
        memory = self.context.memory
        if self._prefix[: len(prefix)] == prefix:
            return
        self._forget()
        if not self._mover.into_shared(slot, _PREFIX) or memory.last_position(_PREFIX) != len(prefix) - 1:
            raise RoomFailed(f"the state of slot {slot} could not be read")
        self._prefix = prefix

    def _forget(self) -> None:
        self._prefix = ()
        self.context.memory.clear_all()


def room_cells(loaded: LoadedModel) -> int:
    """How many tokens a room for this model should hold; 0 where it would be of no use."""
    options, traits = loaded.options, loaded.context.memory.traits
    tiled = options.cache_type_k is options.cache_type_v and options.cache_type_k in (CacheType.F16, CacheType.F32)
    if traits.shares_cells or not traits.can_cut or not tiled or options.flash_attention is FlashAttention.OFF:
        return 0
    size = kv_bytes(loaded.model, options)
    if describe_devices() or not size:
        return 0
    cells = min(_MOST_CELLS, int(_MOST_BYTES / size), loaded.context.slot_context)
    return cells if cells >= _LEAST_CELLS else 0
