"""The cells behind a context: what each slot (llama.cpp `seq_id`) remembers; copied, cut, moved and saved.

Where all slots have one cache, a prefix that one takes over from another stays in the same cells; where each has its
own, it is copied through memory: llama.cpp copies between caches only whole ones, and later than asked. This file
refuses what llama.cpp would do wrongly without saying so; it does not know which tokens the cells hold (the engine
does).
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, TypeAlias

import llama_cpp as ll
import numpy as np
from numpy.typing import NDArray

from ferrox_gguf.llama.model import Model

State: TypeAlias = NDArray[np.uint8]
"""A slot's state as llama.cpp writes it; only this very context can read it back."""

_WHOLE = 0
_PARTIAL = 1
"""LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY: only what cannot be trimmed (window cells, recurrent states)."""


class MemoryMisuse(Exception):
    """The call would have ended the process or served wrong state. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class MemoryTraits:
    """What may be done with this model's cells.

    n_cells: tokens that the cache holds over all slots, shared ones counted once; 0 when it does not grow with tokens
        (purely recurrent models).
    window: sliding window in tokens, 0 when every cell is kept (`--swa-full` included).
    recurrent: the state of a slot is one whole: it can be copied as it is now, and not cut.
    can_shift: positions can be moved (context shift, chunk reuse).
    shares_cells: all slots have one cache, and two may begin with the same cells.
    """

    n_cells: int
    n_slots: int
    window: int = 0
    recurrent: bool = False
    can_shift: bool = True
    shares_cells: bool = True

    @property
    def can_cut(self) -> bool:
        """May any slot be cut anywhere?"""
        return not self.recurrent and not self.window


class Memory:
    """Operations on the slots of one context. Call from the thread that decodes."""

    def __init__(
        self, context: int, model: Model, *, n_cells: int, n_slots: int, swa_full: bool, shares_cells: bool = True
    ) -> None:
        self._context = context
        self._pointer = ll.llama_get_memory(context)
        recurrent = model.is_recurrent or model.is_hybrid
        shifts = bool(self._pointer) and not recurrent and bool(ll.llama_memory_can_shift(self._pointer))
        self.traits = MemoryTraits(
            n_cells=0 if model.is_recurrent and not model.is_hybrid else n_cells,
            n_slots=n_slots,
            window=0 if swa_full else model.n_swa,
            recurrent=recurrent,
            can_shift=shifts,
            shares_cells=shares_cells,
        )

    @property
    def exists(self) -> bool:
        """False for models that remember nothing between batches (encoders)."""
        return bool(self._pointer)

    def first_position(self, slot: int) -> int:
        """The lowest position whose cell is still there, -1 for an empty slot."""
        return int(ll.llama_memory_seq_pos_min(self._pointer, self._checked(slot)))

    def last_position(self, slot: int) -> int:
        """The highest position held, -1 for an empty slot."""
        return int(ll.llama_memory_seq_pos_max(self._pointer, self._checked(slot)))

    def holds(self, slot: int, length: int) -> bool:
        """Could the slot continue at `length`, its later cells dropped, with exact results?"""
        last = self.last_position(slot)
        if length <= 0:
            return True
        if length == last + 1:
            return True
        if length > last + 1 or self.traits.recurrent:
            return False
        return not self.traits.window or self.first_position(slot) <= max(0, length - self.traits.window)

    def cut(self, slot: int, length: int) -> None:
        """Forget everything from position `length` on. Raises MemoryMisuse when what is left would be wrong."""
        if not self.holds(slot, length):
            raise MemoryMisuse(f"slot {slot} cannot be cut to {length} tokens")
        if not ll.llama_memory_seq_rm(self._pointer, self._checked(slot), max(length, 0), -1):
            raise MemoryMisuse(f"llama.cpp refused to cut slot {slot} to {length} tokens")

    def clear(self, slot: int) -> None:
        """Forget all of a slot; cells that another slot shares stay with that one."""
        ll.llama_memory_seq_rm(self._pointer, self._checked(slot), -1, -1)

    def clear_all(self) -> None:
        ll.llama_memory_clear(self._pointer, False)

    def share(self, source: int, target: int, length: int) -> bool:
        """Let target (emptied first) begin with the first `length` tokens of source, in the same cells if they can be.

        Window cells are copied: llama.cpp never takes a shared one back, so that the small window cache would fill up
        with cells that nobody sees. False: there was no room for the copy, and target is empty.
        Raises MemoryMisuse when source does not hold exactly that prefix or cannot be split there.
        """
        if source == target or not self.holds(source, length):
            raise MemoryMisuse(f"slot {source} has no prefix of {length} tokens to share with slot {target}")
        self.clear(target)
        if not self.traits.shares_cells:
            if not self.restore(target, self.save(source)):
                return False
            self.cut(target, length)
            return True
        whole = length == self.last_position(source) + 1
        begin, end = (-1, -1) if whole else (0, length)
        ll.llama_memory_seq_cp(self._pointer, self._checked(source), self._checked(target), begin, end)
        if not self.traits.window or self.traits.recurrent:
            return True
        # A tidy window: only what is inside it was saved, and llama.cpp takes the rest back.
        return self.restore(target, self.save(target, partial=True), partial=True)

    def shift(self, slot: int, begin: int, end: int, delta: int) -> None:
        """Move the positions begin ≤ p < end by delta. The caller knows that no other slot shares these cells."""
        if not self.traits.can_shift:
            raise MemoryMisuse("this model's cells cannot be moved")
        ll.llama_memory_seq_add(self._pointer, self._checked(slot), begin, end, delta)

    def drop(self, slot: int, begin: int, end: int) -> None:
        """Forget the positions begin ≤ p < end, leaving a hole that `shift` then closes."""
        if not self.traits.can_shift:
            raise MemoryMisuse("this model's cells cannot be moved")
        ll.llama_memory_seq_rm(self._pointer, self._checked(slot), begin, end)

    def save(self, slot: int, *, partial: bool = False) -> State:
        """A copy of the slot's state, as bytes. partial: only what cannot be cut, to go with cells that stay."""
        state = np.empty(self.state_size(slot, partial=partial), np.uint8)
        return state[: self.save_into(slot, state, partial=partial)]

    def state_size(self, slot: int, *, partial: bool = False) -> int:
        """Bytes that `save` will give."""
        flags = _PARTIAL if partial else _WHOLE
        return int(ll.llama_state_seq_get_size_ext(self._context, self._checked(slot), flags))

    def save_into(self, slot: int, space: State, *, partial: bool = False) -> int:
        """Like save, into space that is there; the bytes written, 0 when there is not enough."""
        if not space.nbytes:
            return 0
        flags, size = _PARTIAL if partial else _WHOLE, space.nbytes
        written = ll.llama_state_seq_get_data_ext(self._context, _bytes_of(space), size, self._checked(slot), flags)
        return int(written)

    def restore(self, slot: int, state: State | None, *, partial: bool = False) -> bool:
        """Put a saved state into a slot, in cells of its own. False: no room or damaged, and the slot is empty."""
        if not partial:
            self.clear(slot)
        if state is None or not state.nbytes:
            self.clear(slot)
            return False
        flags, size = _PARTIAL if partial else _WHOLE, state.nbytes
        read = int(ll.llama_state_seq_set_data_ext(self._context, _bytes_of(state), size, self._checked(slot), flags))
        if read == 0:
            self.clear(slot)
        return read > 0

    def rewind(self, slot: int, state: State | None, length: int) -> bool:
        """Take a slot back to the `length` tokens at which its partial state was saved; False: the slot is empty.

        What can be cut is cut; the window or the recurrent state comes from the checkpoint.
        """
        if length > self.last_position(slot) + 1:
            self.clear(slot)
            return False
        return self._complete(slot, state, length)

    def share_rewound(self, source: int, target: int, length: int, state: State | None) -> bool:
        """Like share, for a prefix that only a checkpoint of source makes whole; source stays as it is."""
        if source == target or length > self.last_position(source) + 1:
            raise MemoryMisuse(f"slot {source} has no prefix of {length} tokens to share with slot {target}")
        if not self.traits.shares_cells:
            raise MemoryMisuse("a checkpoint goes with cells that two slots share")
        self.clear(target)
        ll.llama_memory_seq_cp(self._pointer, self._checked(source), self._checked(target), 0, length)
        return self._complete(target, state, length)

    def _complete(self, slot: int, state: State | None, length: int) -> bool:
        """Put a checkpoint onto cells that reach to `length` or beyond.

        A window cache reports the window's positions as the slot's, so what the base holds cannot be asked here.
        """
        if not self.restore(slot, state, partial=True):
            return False
        ll.llama_memory_seq_rm(self._pointer, self._checked(slot), length, -1)
        if self.last_position(slot) != length - 1:
            self.clear(slot)
            return False
        return True

    def _checked(self, slot: int) -> int:
        if not 0 <= slot < self.traits.n_slots:
            raise MemoryMisuse(f"there is no slot {slot}")
        return slot


def _bytes_of(state: State) -> Any:
    return state.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
