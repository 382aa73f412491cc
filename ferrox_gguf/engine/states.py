"""Does the cell operations of a plan, and owns the bytes of every state that is kept outside the cells."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ferrox_gguf.engine.plan import Cut, Drop, Operation, Restore, Rewind, Save, Share, Shift, Unshare
from ferrox_gguf.llama.memory import Memory, State


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
        lost: list[int] = []
        saved: dict[int, int] = {}
        save_ms = 0.0
        for operation in operations:
            if isinstance(operation, Save):
                began = time.perf_counter()
                saved[operation.key] = self._save(operation)
                save_ms += 1000.0 * (time.perf_counter() - began)
            elif isinstance(operation, Drop):
                self._states.pop(operation.key, None)
            elif not self._change(operation):
                lost.append(operation.target if isinstance(operation, Share) else operation.slot)
        return tuple(lost), saved, save_ms

    def _save(self, operation: Save) -> int:
        state = self._memory.save(operation.slot, partial=operation.partial)
        if state.nbytes:
            self._states[operation.key] = state
        return int(state.nbytes)

    def _change(self, operation: Cut | Share | Shift | Restore | Rewind | Unshare) -> bool:
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
        after = operation.keep + operation.discard
        memory.drop(operation.slot, operation.keep, after)
        memory.shift(operation.slot, after, operation.length, -operation.discard)
        return True
