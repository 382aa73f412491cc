"""The slots and the cells behind them: what may be reused, what must be evicted, and the operations that do it.

The scheduler decides who runs; this file keeps slots, ledger, kept states and the list of cell operations in step with
each other. Nothing here waits or computes: an operation is done by the executor before the next decode.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Items

from ferrox_gguf.engine.archive import Match
from ferrox_gguf.engine.cells import CellLedger
from ferrox_gguf.engine.checkpoints import LEAST, usable
from ferrox_gguf.engine.keeper import Keeper
from ferrox_gguf.engine.layout import Layout
from ferrox_gguf.engine.plan import Chunk, Cut, Operation, Outcome, Restore, Rewind, Share, Shift, Splice, Unshare
from ferrox_gguf.engine.prefix import LOSABLE, Placement, Reuse, common_chunks, common_prefix
from ferrox_gguf.engine.sequence import Sequence
from ferrox_gguf.engine.slot import Slot
from ferrox_gguf.engine.stats import Counters
from ferrox_gguf.request import LoraScale

_FILLING = (Share, Restore, Rewind)
_FEW_CELLS = 256
"""Cells that cost nothing to pass over: llama.cpp rounds up to as many."""
_WORTH_RESTORING = 64
"""Tokens by which a kept state must beat the best slot: a copy back costs some milliseconds."""


class Lanes:
    """All slots of one context.

    first_position: the lowest KV position that a slot still has (asked only when there is a sliding window).
    take_operations() gives what is to be done before the next decode, in order, each once.
    """

    def __init__(self, layout: Layout, counters: Counters, first_position: Callable[[int], int]) -> None:
        self.layout = layout
        self.slots = tuple(Slot(index) for index in range(layout.n_slots))
        self.cells = CellLedger(layout.n_cells if layout.shares_cells else 0, layout.n_slots)
        self._operations: list[Operation] = []
        self.keeper = Keeper(layout, self.slots, self._operations)
        self._counters = counters
        self._first_position = first_position

    def take_operations(self) -> tuple[Operation, ...]:
        operations = tuple(self._operations)
        self._operations.clear()
        return operations

    # What a prompt can begin with

    def usable(self, slot: Slot, length: int) -> Reuse:
        """How much of a common prefix the slot can give without serving wrong state, and whether it must be awaited."""
        if length > slot.held:
            return Reuse(slot, 0 if slot.idle else length, pending=not slot.idle)
        if length == slot.held or self._can_cut(slot, length):
            return Reuse(slot, length)
        checkpoint = usable(slot.checkpoints, length)
        return Reuse(slot, checkpoint.length, checkpoint=checkpoint) if checkpoint else Reuse(slot, 0)

    def offer(self, source: Slot, sequence: Sequence) -> Reuse:
        """What the sequence can take over from a slot now."""
        if source.lora != sequence.request.lora:
            return Reuse(source, 0)
        length = min(common_prefix(source.tokens, sequence.tokens), source.held, len(sequence.tokens) - 1)
        return self.usable(source, length) if length > 0 else Reuse(source, 0)

    def kept(self, sequence: Sequence, placement: Placement) -> Match | None:
        """A kept state that gives clearly more than the placement does, if its cells can be had."""
        match = self.keeper.archive.find(sequence.tokens, sequence.request.lora)
        if match is None or match.length < placement.length + _WORTH_RESTORING:
            return None
        # The whole state comes back before what is beyond the prefix is cut off again.
        return match if len(match.entry.tokens) <= self.spare(frozenset()) else None

    def missed(self, sequence: Sequence) -> int:
        """The longest prefix that slots have in common with the sequence and cannot give, for want of a checkpoint."""
        if self.layout.can_cut:
            return 0
        return max(
            (
                common_prefix(slot.tokens, sequence.tokens)
                for slot in self.slots
                if slot.lora == sequence.request.lora and slot.sequence is not sequence
            ),
            default=0,
        )

    # Changing what slots hold

    def begin(self, slot: Slot, placement: Placement, sequence: Sequence) -> None:
        """The slot keeps or takes over the prefix of a placement, and forgets everything else."""
        checkpoint = placement.checkpoint
        if placement.source not in (-1, slot.index):
            self.share(self.slots[placement.source], slot, Reuse(slot, placement.length, checkpoint=checkpoint))
            return
        lost = slot.held - placement.length
        if lost >= LEAST and lost > LOSABLE * slot.held:
            self.keeper.keep(slot)
        chunks = self._movable(slot, placement.length, sequence)
        if chunks:
            splice = Splice(slot.index, placement.length, chunks)
            self._operations.append(splice)
            self._shorten(slot, splice.length)
        elif checkpoint is not None:
            self._operations.append(Rewind(slot.index, checkpoint.key, checkpoint.length))
            self._shorten(slot, checkpoint.length)
        else:
            self.cut(slot, placement.length)

    def share(self, source: Slot, target: Slot, offer: Reuse) -> None:
        """Target begins with a prefix of source, in the same cells where there is one cache."""
        self.keeper.keep(target)
        self.cut(target, 0)
        key = offer.checkpoint.key if offer.checkpoint else -1
        self._operations.append(Share(source.index, target.index, offer.length, key))
        if self.layout.shares_cells:
            self.cells.share(source.index, target.index, offer.length)
        else:
            self.cells.grow(target.index, offer.length)
        self.keeper.inherit(source.checkpoints, target, offer.length)
        target.held = offer.length
        self._counters.shared_tokens += offer.length

    def copy(self, source: Slot, target: Slot) -> bool:
        """All that source holds, into a cache of target's own. False: what target holds would be lost."""
        if not self.keeper.keep(target):
            return False
        self.cut(target, 0)
        self._operations.append(Share(source.index, target.index, source.held))
        self.cells.grow(target.index, source.held)
        target.held = source.held
        return True

    def restore(self, slot: Slot, match: Match) -> None:
        """The slot begins with a kept state."""
        entry, checkpoint, whole = match.entry, match.checkpoint, len(match.entry.tokens)
        self.keeper.hold(match)
        self.keeper.keep(slot)
        self.cut(slot, 0)
        self.make_room(whole)
        if checkpoint is None:
            self._operations.append(Restore(slot.index, entry.key, match.length))
        else:
            self._operations.append(Restore(slot.index, entry.key, whole))
            self._operations.append(Rewind(slot.index, checkpoint.key, checkpoint.length))
        self.cells.grow(slot.index, match.length)
        self.keeper.inherit(entry.checkpoints, slot, match.length)
        self.keeper.archive.use(match)
        self.keeper.release(match)
        slot.held = match.length
        self._counters.restored_tokens += match.length

    def cut(self, slot: Slot, length: int) -> None:
        """The slot keeps its first `length` tokens."""
        if slot.held != length:
            self._operations.append(Cut(slot.index, length))
        self._shorten(slot, length)

    def read_again(self, slot: Slot, length: int) -> None:
        """A prompt that is being read goes back to its first `length` tokens."""
        sequence, tokens = slot.sequence, slot.tokens
        assert sequence is not None
        self.cut(slot, length)
        slot.tokens = tokens
        if not sequence.decoding:
            sequence.cached = min(sequence.cached, length)
            sequence.read = length - sequence.cached

    def evict(self, slot: Slot) -> None:
        """Empty a slot whose tokens may be wanted again."""
        self.keeper.keep(slot)
        self._counters.evicted_tokens += slot.held
        self.cut(slot, 0)

    def forget(self, slot: Slot) -> int:
        """Drop what an idle slot remembers, for good; the number of tokens."""
        held = slot.held
        self._operations.append(Cut(slot.index, 0))
        self._shorten(slot, 0)
        return held

    def fill(self, slot: Slot, tokens: list[int], lora: tuple[LoraScale, ...]) -> None:
        """The caller has put the state of these tokens into an emptied idle slot."""
        slot.tokens, slot.held, slot.lora = tokens, len(tokens), lora
        self.cells.grow(slot.index, len(tokens))

    def lost(self, slot: Slot) -> None:
        """The slot's cells turned out to be gone; whoever runs there reads again."""
        tokens = slot.tokens
        self._shorten(slot, 0)
        sequence = slot.sequence
        if sequence is not None:
            slot.tokens = tokens
            if not sequence.decoding:
                sequence.cached = sequence.read = 0

    def shift(self, slot: Slot, keep: int, discard: int) -> None:
        """Forget `discard` tokens after the first `keep`; the rest moves down. The caller edits the token list."""
        if not self.cells.is_private(slot.index):
            self._operations.append(Unshare(slot.index))
            self.cells.unshare(slot.index)
        self._operations.append(Shift(slot.index, keep, discard, slot.held))
        self.cells.remove(slot.index, keep, discard)
        self.keeper.thin(slot, keep)
        slot.held -= discard
        self._counters.context_shifts += 1

    # Room

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
        self.evict(min(idle, key=lambda slot: (self.cells.private(slot.index) == 0, slot.last_used)))
        return True

    def clear_idle(self, running: int) -> None:
        """Move what idle slots hold to memory, the least recently used first, while it outweighs what runs.

        llama.cpp's attention passes over every cell of the cache in every step, whoever's it is.
        running: tokens of the sequences that have a slot.
        """
        idle = [slot for slot in self.slots if slot.idle and slot.held]
        weight = sum(self.cells.private(slot.index) for slot in idle)
        for slot in sorted(idle, key=lambda slot: slot.last_used):
            if weight <= max(running, _FEW_CELLS):
                return
            weight -= self.cells.private(slot.index)
            if self.keeper.keep(slot):
                self.cut(slot, 0)

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

    # After a step

    def commit(self, operations: Items[Operation], outcome: Outcome) -> None:
        """What the executor says of the operations: states that were kept, slots that were lost."""
        self.keeper.commit(outcome)
        for index in outcome.lost:
            self.lost(self.slots[index])
            for operation in operations:
                if isinstance(operation, (Restore, Rewind)) and operation.slot == index:
                    self.keeper.discard(operation.key)

    def _shorten(self, slot: Slot, length: int) -> None:
        """The books of a cut."""
        self.cells.cut(slot.index, length)
        self.keeper.thin(slot, length)
        slot.held = length
        slot.tokens = slot.tokens[:length]

    def _movable(self, slot: Slot, keep: int, sequence: Sequence) -> tuple[Chunk, ...]:
        """Later parts of what the slot holds that the prompt has too. Shared cells would move for all their owners."""
        least = sequence.request.n_cache_reuse
        if least <= 0 or not self.layout.can_shift or slot.lora != sequence.request.lora:
            return ()
        if not sequence.request.cache_prompt or not self.cells.is_private(slot.index, keep):
            return ()
        return common_chunks(slot.tokens[: slot.held], sequence.tokens, keep, least)

    def _can_cut(self, slot: Slot, length: int) -> bool:
        if self.layout.recurrent:
            return length == 0
        if self.layout.window:
            # What llama.cpp holds is known only of slots that no operation of this plan is about to fill.
            filled = any(isinstance(each, _FILLING) and each.fills == slot.index for each in self._operations)
            return not filled and self._first_position(slot.index) <= max(0, length - self.layout.window)
        return True
