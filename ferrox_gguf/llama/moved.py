"""A sequence's state, moved between contexts that arrange their caches differently.

llama.cpp writes a sequence's state as: a mark and the sequence's id, the number of caches, then for each cache how many
of its cells belong to the sequence, followed by those cells. Where each slot has its own cache, all but one are empty.
So between both arrangements only empty caches come and go. Source: llama_context::state_seq_get_data and
llama_kv_cache::state_write at the pinned release; `tests/llama/test_room.py` compares logits across the move.
"""

from __future__ import annotations

import numpy as np

from ferrox_gguf.llama.memory import Memory, State

_HEAD = 8
"""Bytes of the mark and the sequence's id."""
_NUMBER = 4
"""Bytes of a count."""


class Mover:
    """Between `own`, where each slot has a cache, and `shared`, where all sequences have one. One at a time."""

    def __init__(self, own: Memory, shared: Memory) -> None:
        self._own = own
        self._shared = shared
        self._caches = own.traits.n_slots
        self._space: State = np.empty(0, np.uint8)

    def into_shared(self, slot: int, sequence: int) -> bool:
        """The sequence becomes a copy of the slot. False: it could not."""
        space = self._enough(self._own.state_size(slot))
        written = self._own.save_into(slot, space)
        if not written:
            # What an earlier move left in this space must not be taken for it.
            return False
        # The counts of empty caches before and behind the slot's go.
        begin, end = _NUMBER * slot, written - _NUMBER * (self._caches - 1 - slot)
        space[begin : begin + _HEAD] = space[:_HEAD].copy()
        _write(space, begin + _HEAD, 1)
        return self._shared.restore(sequence, space[begin:end])

    def into_own(self, sequence: int, slot: int) -> bool:
        """The slot becomes a copy of the sequence. False: it could not."""
        before, after = _NUMBER * slot, _NUMBER * (self._caches - 1 - slot)
        size = self._shared.state_size(sequence)
        space = self._enough(before + size + after)
        written = self._shared.save_into(sequence, space[before : before + size])
        if not written:
            return False
        end = before + written
        # Counts of empty caches come before and behind the slot's.
        space[:_HEAD] = space[before : before + _HEAD].copy()
        _write(space, _HEAD, self._caches)
        space[_HEAD + _NUMBER : _HEAD + _NUMBER + before] = 0
        space[end : end + after] = 0
        return self._own.restore(slot, space[: end + after])

    def _enough(self, size: int) -> State:
        """Space that stays: the system gives new pages slowly."""
        if self._space.nbytes < size:
            self._space = np.empty(size + size // 4, np.uint8)
        return self._space[:size]


def _write(space: State, at: int, value: int) -> None:
    space[at : at + _NUMBER] = np.array([value], "<u4").view(np.uint8)
