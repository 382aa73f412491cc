"""Does the cell operations of a plan, and owns the bytes of every state that is kept outside the cells."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import TypeAlias, Union

from ferrox_gguf.engine.plan import Cut, Drop, Operation, Restore, Rewind, Save, Share, Shift, Splice, Unshare
from ferrox_gguf.llama.memory import Memory, MemoryMisuse, State

logger = logging.getLogger(__name__)

Change: TypeAlias = Union[Cut, Share, Shift, Splice, Restore, Rewind, Unshare]
"""Operations on the cells of one slot."""


class CellStates:
    """The executor's hands on the memory. Keys are the keeper's; a key that is not here was dropped or never saved."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._states: dict[int, State] = {}

    @property
    def bytes(self) -> int:
        """What all kept states take."""
        return sum(state.nbytes for state in self._states.values())

    def operate(self, operations: Sequence[Operation]) -> tuple[tuple[int, ...], dict[int, int], float]:
        """Do them in order: slots left empty against the plan, bytes of each saved key, milliseconds spent saving."""
        lost: dict[int, None] = {}
        saved: dict[int, int] = {}
        save_ms = 0.0
        for operation in operations:
            if isinstance(operation, Save):
                began = time.perf_counter()
                saved[operation.key] = 0 if operation.slot in lost else self._save(operation)
                save_ms += 1000.0 * (time.perf_counter() - began)
            elif isinstance(operation, Drop):
                self._states.pop(operation.key, None)
            elif not self._change_or_clear(operation):
                lost[operation.target if isinstance(operation, Share) else operation.slot] = None
        for slot in lost:
            # Whatever a later operation put there was planned on what is not so.
            self._memory.clear(slot)
        return tuple(lost), saved, save_ms

    def _save(self, operation: Save) -> int:
        state = self._memory.save(operation.slot, partial=operation.partial)
        if state.nbytes:
            self._states[operation.key] = state
        return int(state.nbytes)

    def _change_or_clear(self, operation: Change) -> bool:
        """A window's old cells may have been taken by an operation before this one: then nothing wrong is served."""
        try:
            return self._change(operation)
        except MemoryMisuse as error:
            logger.debug("%s: %s", operation, error)
            self._memory.clear(operation.target if isinstance(operation, Share) else operation.slot)
            return False

    def _change(self, operation: Change) -> bool:
        """False when the slot is empty now although the plan wants it filled."""
        memory = self._memory
        if isinstance(operation, Cut):
            if operation.length:
                memory.cut(operation.slot, operation.length)
            else:
                memory.clear(operation.slot)
            return True
        if isinstance(operation, Share):
            if operation.checkpoint < 0:
                return memory.share(operation.source, operation.target, operation.length)
            state = self._states.get(operation.checkpoint)
            return memory.share_rewound(operation.source, operation.target, operation.length, state)
        if isinstance(operation, Restore):
            if not memory.restore(operation.slot, self._states.get(operation.key)):
                return False
            memory.cut(operation.slot, operation.length)
            return True
        if isinstance(operation, Rewind):
            return memory.rewind(operation.slot, self._states.get(operation.key), operation.length)
        if isinstance(operation, Unshare):
            return memory.restore(operation.slot, memory.save(operation.slot))
        if isinstance(operation, Splice):
            for chunk in operation.chunks:
                memory.drop(operation.slot, chunk.new, chunk.old)
                memory.shift(operation.slot, chunk.old, chunk.old + chunk.length, chunk.new - chunk.old)
            memory.cut(operation.slot, operation.length)
            return True
        after = operation.keep + operation.discard
        memory.drop(operation.slot, operation.keep, after)
        memory.shift(operation.slot, after, operation.length, -operation.discard)
        return True
