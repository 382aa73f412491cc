"""Saving, restoring and erasing slots: runs on the engine thread, between two steps, on slots that are idle."""

from __future__ import annotations

import time
from pathlib import Path

from ferrox_gguf.engine.executor import Executor
from ferrox_gguf.engine.lanes import Lanes
from ferrox_gguf.engine.plan import BatchPlan
from ferrox_gguf.engine.snapshot import SlotFile, Snapshot, read_snapshot, write_snapshot
from ferrox_gguf.errors import InvalidField


class SlotFiles:
    """Keeps the books (lanes) and the cells (executor) in step around a file."""

    def __init__(self, lanes: Lanes, executor: Executor, *, slot_context: int, n_vocab: int) -> None:
        self._lanes = lanes
        self._executor = executor
        self._slot_context = slot_context
        self._n_vocab = n_vocab

    def save(self, slot: int, path: Path) -> SlotFile:
        """Raises OSError when the file cannot be written."""
        began = time.perf_counter()
        self._flush()
        lane = self._lanes.slots[slot]
        tokens = lane.tokens[: lane.held]
        snapshot = Snapshot(self._executor.belongs_to, tokens, lane.lora, self._executor.take_state(slot))
        return SlotFile(len(tokens), write_snapshot(path, snapshot), _since(began))

    def restore(self, slot: int, path: Path) -> SlotFile:
        """Raises InvalidField when the file cannot be used; the slot is empty then, if it got so far."""
        began = time.perf_counter()
        snapshot, size = read_snapshot(path, self._executor.belongs_to)
        tokens = snapshot.tokens
        if len(tokens) > self._slot_context:
            raise InvalidField("filename", f"has {len(tokens)} tokens, the slot holds {self._slot_context}")
        if tokens and not 0 <= min(tokens) <= max(tokens) < self._n_vocab:
            raise InvalidField("filename", "has tokens that are not in the vocabulary")
        lane = self._lanes.slots[slot]
        self._lanes.evict(lane)
        room = self._lanes.make_room(len(tokens))
        self._flush()
        if not room or (tokens and not self._executor.put_state(slot, snapshot.state, len(tokens))):
            raise InvalidField("filename", "does not fit into the cache now, or its state is damaged")
        self._lanes.fill(lane, tokens, snapshot.lora)
        return SlotFile(len(tokens), size, _since(began))

    def erase(self, slot: int) -> int:
        return self._lanes.forget(self._lanes.slots[slot])

    def _flush(self) -> None:
        """Do the cell operations that are still to be done."""
        operations = self._lanes.take_operations()
        if operations:
            self._lanes.commit(operations, self._executor.execute(BatchPlan(operations)))


def _since(began: float) -> float:
    return 1000.0 * (time.perf_counter() - began)
