"""The slots and the cells behind them: what may be reused, what must be evicted, and the operations that do it.

The scheduler decides who runs; this file keeps slots, ledger and the list of cell operations in step with each other.
"""

from __future__ import annotations

from collections.abc import Callable

from ferrox_gguf.engine.cells import CellLedger
from ferrox_gguf.engine.layout import Layout
from ferrox_gguf.engine.plan import Cut, Operation, Share, Shift, Unshare
from ferrox_gguf.engine.prefix import Reuse, common_prefix
from ferrox_gguf.engine.sequence import Sequence
from ferrox_gguf.engine.slot import Slot
from ferrox_gguf.engine.stats import Counters


class Lanes:
    """All slots of one context.

    first_position: the lowest KV position that a slot still has (asked only when there is a sliding window).
    take_operations() gives what is to be done before the next decode, in order, each once.
    """

    def __init__(self, layout: Layout, counters: Counters, first_position: Callable[[int], int]) -> None:
        self.layout = layout
        self.slots = tuple(Slot(index) for index in range(layout.n_slots))
        self.cells = CellLedger(layout.n_cells, layout.n_slots)
        self._counters = counters
        self._first_position = first_position
        self._operations: list[Operation] = []

    def take_operations(self) -> tuple[Operation, ...]:
        operations, self._operations = tuple(self._operations), []
        return operations

    def usable(self, slot: Slot, length: int) -> Reuse:
        """How much of a common prefix the slot can give without serving wrong state, and whether it must be awaited."""
        if length > slot.held:
            return Reuse(slot, 0 if slot.idle else length, pending=not slot.idle)
        if length == slot.held or self._can_cut(slot, length):
            return Reuse(slot, length, pending=False)
        return Reuse(slot, 0, pending=False)

    def shared_prefix(self, source: Slot, sequence: Sequence) -> int:
        """Tokens of a slot that the sequence can take over now."""
        if source.lora != sequence.request.lora:
            return 0
        length = min(common_prefix(source.tokens, sequence.tokens), source.held, len(sequence.tokens) - 1)
        return self.usable(source, length).length if length > 0 else 0

    def cut(self, slot: Slot, length: int) -> None:
        """The slot keeps its first `length` tokens."""
        if slot.held == length:
            slot.tokens = slot.tokens[:length]
            return
        self._operations.append(Cut(slot.index, length))
        self.cells.cut(slot.index, length)
        slot.held = length
        slot.tokens = slot.tokens[:length]

    def share(self, source: int, target: Slot, length: int) -> None:
        """Target begins with source's first `length` tokens, in the same cells."""
        self._operations.append(Share(source, target.index, length))
        self.cells.share(source, target.index, length)
        self._counters.shared_tokens += length

    def make_room(self, tokens: int) -> bool:
        """Evict what idle slots remember, the least recently used first, until that many cells are free."""
        while self.cells.free < tokens:
            if not self.evict_one():
                return False
        return True

    def evict_one(self) -> bool:
        """Empty the least recently used idle slot; False when no idle slot remembers anything."""
        idle = [slot for slot in self.slots if slot.idle and slot.held]
        if not idle:
            return False
        # Clearing one owner of shared cells frees nothing, so a slot with cells of its own goes first.
        victim = min(idle, key=lambda slot: (self.cells.private(slot.index) == 0, slot.last_used))
        self._counters.evicted_tokens += victim.held
        self.cut(victim, 0)
        return True

    def spare(self, keep: frozenset[int]) -> int:
        """Cells that are free or that evicting idle slots, but for these, would free."""
        return self.cells.free + sum(
            self.cells.private(slot.index) for slot in self.slots if slot.idle and slot.index not in keep
        )

    def can_shift(self, slot: int) -> bool:
        """May this slot's tokens move? Cells that it shares are copied first, if there is room."""
        if not (self.layout.context_shift and self.layout.can_shift):
            return False
        return self.cells.free >= self.cells.held(slot) - self.cells.private(slot)

    def shift(self, slot: Slot, keep: int, discard: int) -> None:
        """Forget `discard` tokens after the first `keep`; the rest moves down. The caller edits the token list."""
        if not self.cells.is_private(slot.index):
            self._operations.append(Unshare(slot.index))
            self.cells.unshare(slot.index)
        self._operations.append(Shift(slot.index, keep, discard, slot.held))
        self.cells.remove(slot.index, keep, discard)
        slot.held -= discard
        self._counters.context_shifts += 1

    def lost(self, slot: Slot) -> None:
        """The slot's cells turned out to be gone; whoever runs there reads again."""
        self.cells.cut(slot.index, 0)
        slot.held = 0
        if slot.sequence is None:
            slot.tokens = []
        elif not slot.sequence.decoding:
            slot.sequence.cached = slot.sequence.read = 0

    def forget(self, slot: Slot) -> int:
        """Drop what an idle slot remembers; the number of tokens."""
        held = slot.held
        self.cut(slot, 0)
        return held

    def _can_cut(self, slot: Slot, length: int) -> bool:
        if self.layout.recurrent:
            return length == 0
        if self.layout.window:
            return self._first_position(slot.index) <= max(0, length - self.layout.window)
        return True
