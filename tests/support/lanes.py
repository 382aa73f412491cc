"""Slots of an engine that is none: their files are text, their counters what a test sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ferrox_gguf.engine.snapshot import SlotFile
from ferrox_gguf.engine.stats import Counters, EngineStats, SlotSnapshot
from ferrox_gguf.errors import InvalidField


class ScriptedLanes:
    """busy: ids of the slots that run something.  held: tokens in each slot."""

    def __init__(self, n_ctx: int = 4096, n_slots: int = 4) -> None:
        self.n_ctx, self.held = n_ctx, [0] * n_slots
        self.busy: set[int] = set()
        self.counters, self.queued = Counters(), 0

    def slots(self) -> Sequence[SlotSnapshot]:
        return [SlotSnapshot(at, self.n_ctx, at in self.busy, n_tokens=held) for at, held in enumerate(self.held)]

    def stats(self) -> EngineStats:
        return EngineStats.of(
            self.counters,
            slots_processing=len(self.busy),
            slots_total=len(self.held),
            queued=self.queued,
            cells_used=sum(self.held),
            cells_total=self.n_ctx,
        )

    async def save_slot(self, slot: int, path: Path) -> SlotFile:
        self._check(slot)
        return written(path, self.held[slot])

    async def restore_slot(self, slot: int, path: Path) -> SlotFile:
        self._check(slot)
        file = read(path)
        self.held[slot] = file.n_tokens
        return file

    async def erase_slot(self, slot: int) -> int:
        self._check(slot)
        erased, self.held[slot] = self.held[slot], 0
        return erased

    def _check(self, slot: int) -> None:
        if not 0 <= slot < len(self.held):
            raise InvalidField("id_slot", f"must be between 0 and {len(self.held) - 1}")


def written(path: Path, held: int) -> SlotFile:
    path.write_text(str(held))
    return SlotFile(held, path.stat().st_size, 1.5)


def read(path: Path) -> SlotFile:
    try:
        text = path.read_text()
    except OSError:
        raise InvalidField("filename", "cannot be read") from None
    return SlotFile(int(text), len(text), 2.5)
