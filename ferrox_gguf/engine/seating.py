"""Who has a slot: waiting sequences are let in, forks begin when their prefix is there, and the youngest steps back.

Keeps the two lists, waiting and running; `scheduler.py` says when, `lanes.py` does what it takes to the cells.
"""

from __future__ import annotations

from ferrox_gguf.engine.archive import Match
from ferrox_gguf.engine.checkpoints import marks
from ferrox_gguf.engine.lanes import Lanes
from ferrox_gguf.engine.layout import Layout
from ferrox_gguf.engine.prefix import MOVABLE, Placement, place
from ferrox_gguf.engine.ranks import closing_move
from ferrox_gguf.engine.sequence import Awaited, Phase, Sequence
from ferrox_gguf.engine.slot import Slot
from ferrox_gguf.engine.stats import Counters

_WORTH_MOVING = 8
"""Tokens that an answer must still be allowed to have: each is computed sooner by a pass less."""
_MARGIN = 16
"""Cells left to each running answer before another sequence is let in, lest it be put out again at once."""


class Seating:
    """waiting: without a slot, in their order.  running: with one, the oldest first.

    ticks count steps; a slot remembers when it was last left.
    """

    def __init__(self, layout: Layout, lanes: Lanes, counters: Counters) -> None:
        self.waiting: list[Sequence] = []
        self.running: list[Sequence] = []
        self.tick = 0
        self._layout = layout
        self._lanes = lanes
        self._counters = counters

    def find(self, handle: int) -> Sequence | None:
        return next((s for s in [*self.waiting, *self.running] if s.handle == handle), None)

    def admit(self, now_ms: float) -> list[Sequence]:
        """Give slots to waiting sequences in their order; those that run from now on.

        One whose own slot is busy does not hold up the others.
        """
        started: list[Sequence] = []
        for sequence in list(self.waiting):
            request = sequence.request
            reuse = request.cache_prompt or sequence.decoding
            placement = place(
                sequence.tokens,
                request.lora,
                self._lanes.slots,
                wanted=request.id_slot,
                reuse=reuse,
                similarity=self._layout.similarity,
                chunks=request.n_cache_reuse > 0 and self._layout.can_shift,
                copies=not self._layout.shares_cells,
                kept=self._layout.cache_bytes != 0,
                usable=self._lanes.usable,
            )
            if placement is None and request.id_slot >= 0:
                continue
            if placement is None:
                break
            match = self._lanes.kept(sequence, placement) if reuse else None
            if not self._has_room_for(sequence, Placement(placement.target) if match else placement):
                break
            self.waiting.remove(sequence)
            if self._seat(sequence, placement, match, now_ms):
                started.append(sequence)
        return started

    def fork(self) -> list[Sequence]:
        """Sequences whose awaited prefix is there now (or never will be) take what there is; they run from now on."""
        started: list[Sequence] = []
        for sequence in self.running:
            awaited = sequence.awaited
            if awaited is None:
                continue
            source, slot = self._lanes.slots[awaited.slot], self._lanes.slots[sequence.slot]
            is_owner = source.sequence is not None and source.sequence.handle == awaited.owner
            if is_owner and source.held < awaited.length:
                continue
            offer = self._lanes.offer(source, sequence)
            if offer.length:
                self._lanes.share(source, slot, offer)
            self._start(sequence, slot, offer.length)
            started.append(sequence)
        return started

    def close_ranks(self) -> None:
        """Let one answer move beside the others, if that is worth it. A newcomer would rather take its place there."""
        if self.waiting:
            return
        slots = self._lanes.slots
        busy = [slot.index for slot in slots if not slot.idle]
        if not busy or busy[-1] - busy[0] < len(busy):
            return
        owners = {sequence.awaited.owner for sequence in self.running if sequence.awaited}
        movable = {s.slot for s in self.running if s.handle not in owners and self._may_move(s)}
        move = closing_move(busy, movable, len(slots), {slot.index for slot in slots if slot.idle and slot.held})
        if move is None:
            return
        source, target = slots[move[0]], slots[move[1]]
        sequence, held = source.sequence, source.held
        if sequence is not None and self._lanes.copy(source, target):
            source.release(self.tick)
            target.lend(sequence, held)

    def _may_move(self, sequence: Sequence) -> bool:
        """An answer that goes on for long enough, in a slot that nobody asked for."""
        request, held = sequence.request, self._lanes.slots[sequence.slot].held
        if not sequence.decoding or request.id_slot >= 0 or held > MOVABLE:
            return False
        return request.max_tokens < 0 or request.max_tokens - sequence.generated >= _WORTH_MOVING

    def step_back(self, sequence: Sequence) -> None:
        """Out of its slot, to run again when there is room; what it has read is kept in memory if it can be."""
        self._counters.preempted += 1
        slot = self._lanes.slots[sequence.slot]
        self.running.remove(sequence)
        slot.release(self.tick)
        self._lanes.evict(slot)
        sequence.slot, sequence.awaited, sequence.phase = -1, None, Phase.WAITING
        self.waiting.insert(0, sequence)

    def leave(self, sequence: Sequence) -> None:
        """The sequence is gone; its slot keeps what was evaluated."""
        sequence.phase = Phase.ENDED
        if sequence.slot < 0:
            self.waiting.remove(sequence)
            return
        self.running.remove(sequence)
        self._lanes.slots[sequence.slot].release(self.tick)

    def _seat(self, sequence: Sequence, placement: Placement, match: Match | None, now_ms: float) -> bool:
        """Borrow the slot and take the prefix over: from a kept state, from a slot, or once it has been read.

        False in the last case: it does not run yet.
        """
        slot = self._lanes.slots[placement.target]
        sequence.began_ms = sequence.began_ms or now_ms
        if not self._layout.can_cut and self._layout.checkpoints:
            sequence.marks = marks(sequence.n_prompt, self._layout.checkpoint_step, self._lanes.missed(sequence))
        self.running.append(sequence)
        self.running.sort(key=lambda other: other.handle)
        if match is not None:
            self._lanes.restore(slot, match)
        elif placement.await_source:
            owner = self._lanes.slots[placement.source].sequence
            assert owner is not None
            self._lanes.evict(slot)
            slot.lend(sequence, 0)
            sequence.awaited = Awaited(placement.source, owner.handle, placement.length)
            sequence.phase = Phase.AWAITING
            return False
        else:
            self._lanes.begin(slot, placement, sequence)
        self._start(sequence, slot, slot.held)
        return True

    def _start(self, sequence: Sequence, slot: Slot, held: int) -> None:
        """The sequence runs from here, with `held` tokens that need not be read."""
        slot.lend(sequence, held)
        sequence.awaited, sequence.phase = None, Phase.RUNNING
        if not sequence.decoding:
            sequence.cached, sequence.read = held, 0
            self._counters.cached_tokens += held

    def _has_room_for(self, sequence: Sequence, placement: Placement) -> bool:
        """Would its own tokens find cells without putting a running sequence out?"""
        if not self.running or not self._lanes.cells.n_cells:
            return True
        needed = len(sequence.tokens) - placement.length + 1
        for other in self.running:
            known = other.awaited.length if other.awaited else self._lanes.slots[other.slot].held
            needed += len(other.tokens) - known + _MARGIN
        # What the taken slot holds beyond the prefix goes as well; what the source holds must stay.
        keep = {placement.source} | ({placement.target} if placement.source == placement.target else set())
        return needed <= self._lanes.spare(frozenset(keep))
