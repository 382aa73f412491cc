"""Decides every step: who gets a slot, which prefix is shared, what is read and decoded, and what ends.

A value machine: submit, plan, commit, cancel. No llama.cpp, no clock and no thread; time and measured results come in
as arguments, decisions go out as a BatchPlan and as events. `executor.py` obeys the plan, `loop.py` turns the handle.

Order of a plan: waiting sequences take slots; those that awaited another's prefix fork it; each running answer gets its
row; what is left of the batch, the cells and the step's time is given to prompts, the oldest first.
"""

from __future__ import annotations

from collections.abc import Callable

from ferrox_gguf.engine.archive import Match
from ferrox_gguf.engine.checkpoints import marks
from ferrox_gguf.engine.contract import Ended, EngineEvent, Failed, PromptProgress, Sampled, Tokens
from ferrox_gguf.engine.keeper import NO_LIMIT_MS
from ferrox_gguf.engine.lanes import Lanes
from ferrox_gguf.engine.layout import Layout
from ferrox_gguf.engine.pace import Pace
from ferrox_gguf.engine.plan import BatchPlan, Drawn, Outcome, PlanRow, Verdict
from ferrox_gguf.engine.prefix import Placement, place
from ferrox_gguf.engine.sequence import Awaited, Phase, Sequence
from ferrox_gguf.engine.slot import Slot
from ferrox_gguf.engine.stats import Counters
from ferrox_gguf.events import StopType
from ferrox_gguf.request import LoraScale

Event = tuple[int, EngineEvent]

_MARGIN = 16
"""Cells left to each running answer before another sequence is let in, lest it be put out again at once."""
_LORA_STEPS = 16
"""Steps in a row with one adapter set while another waits: changing it each step costs half the speed (measured)."""
_SHORT = 32
"""Tokens that an answer may have pending (a guide forced them) and still be served before the prompts."""


class Scheduler:
    """Steps: plan(), let the executor obey it, commit(). submit() and cancel() between steps."""

    def __init__(self, layout: Layout, *, first_position: Callable[[int], int] = lambda slot: 0) -> None:
        self.layout = layout
        self.counters = Counters()
        self.lanes = Lanes(layout, self.counters, first_position)
        self.pace = Pace(layout.step_budget_ms, layout.n_ubatch)
        self._waiting: list[Sequence] = []
        self._running: list[Sequence] = []
        self._events: list[Event] = []
        self._tick = 0
        self._lora: tuple[LoraScale, ...] = ()
        self._lora_steps = 0
        self._chunk_limit = layout.n_batch
        self._short_of_cells = False

    # Between steps

    def submit(self, sequence: Sequence) -> None:
        """Queue a sequence; it takes a slot in a later plan."""
        self.counters.submitted += 1
        self._waiting.append(sequence)

    def cancel(self, handle: int) -> bool:
        """Forget a sequence; its slot is free for the next plan. False when it was not there."""
        sequence = self._find(handle)
        if sequence is None:
            return False
        self.counters.cancelled += 1
        self._leave(sequence)
        return True

    def fail(self, handle: int, error: Exception) -> None:
        """End a sequence with an error, and no other."""
        sequence = self._find(handle)
        if sequence is not None:
            self._end_failed(sequence, error)

    @property
    def busy(self) -> bool:
        return bool(self._waiting or self._running)

    @property
    def queued(self) -> int:
        """Sequences without a slot."""
        return len(self._waiting)

    def handles(self) -> list[int]:
        """Every sequence that has not ended."""
        return [sequence.handle for sequence in [*self._waiting, *self._running]]

    def take_events(self) -> list[Event]:
        """Events so far, each given once."""
        events, self._events = self._events, []
        return events

    # One step

    def plan(self, now_ms: float) -> BatchPlan:
        """The next step. Its cell operations count as done from here on; its rows only with commit()."""
        if self._short_of_cells:
            self._relieve(now_ms)
        answering = any(s.decoding for s in self._running)
        self.lanes.keeper.budget_ms = self.layout.step_budget_ms / 2 if answering else NO_LIMIT_MS
        if self._waiting:
            self._admit(now_ms)
        self._fork()
        lora = self._choose_lora()
        ready = [s for s in self._running if s.phase is Phase.RUNNING and s.request.lora == lora]
        if self.layout.context_shift:
            self._shift_full(ready, now_ms)
        rows, decoding = self._answer_rows(ready, now_ms)
        if len(rows) < len(ready):
            served = {row.sequence for row in rows}
            readers = [s for s in ready if s.handle not in served and s.phase is Phase.RUNNING]
            self._add_readers(rows, readers, decoding)
            if not rows and readers:
                # Prompts fill every cell and none can go on: one must make room for the others.
                self._step_back(max(self._running, key=lambda s: s.handle), now_ms)
        return BatchPlan(self.lanes.take_operations(), tuple(rows), lora, decoding)

    def commit(self, plan: BatchPlan, outcome: Outcome, now_ms: float) -> list[Event]:
        """Take the step's results in; the events for each sequence, in order."""
        self._tick += 1
        if plan.operations:
            self.lanes.commit(plan.operations, outcome)
        if outcome.verdict is not Verdict.DONE:
            self._short_of_cells = outcome.verdict is Verdict.FULL
            return self.take_events()
        if plan.rows:
            prompt_tokens = plan.n_tokens - plan.decoding
            self._chunk_limit = min(self.layout.n_batch, self._chunk_limit * 2)
            self.pace.observe(plan.decoding, prompt_tokens, outcome.decode_ms)
            self.counters.observe_step(plan.decoding, prompt_tokens, len(plan.rows), outcome.decode_ms)
        by_handle = {sequence.handle: sequence for sequence in self._running}
        for index, row in enumerate(plan.rows):
            sequence = by_handle.get(row.sequence)
            if sequence is None:
                continue
            drawn = outcome.drawn.get(index)
            if drawn is not None and drawn.error is not None:
                self._end_failed(sequence, drawn.error)
                continue
            self._evaluated(sequence, row, now_ms)
            if drawn is not None:
                self._take(sequence, drawn, now_ms)
        return self.take_events()

    # Who runs

    def _admit(self, now_ms: float) -> None:
        """Give slots to waiting sequences in their order; one whose own slot is busy does not hold up the others."""
        for sequence in list(self._waiting):
            request = sequence.request
            placement = place(
                sequence.tokens,
                request.lora,
                self.lanes.slots,
                wanted=request.id_slot,
                reuse=request.cache_prompt or sequence.decoding,
                similarity=self.layout.similarity,
                chunks=request.n_cache_reuse > 0 and self.layout.can_shift,
                usable=self.lanes.usable,
            )
            if placement is None and request.id_slot >= 0:
                continue
            if placement is None:
                return
            match = self.lanes.kept(sequence, placement) if request.cache_prompt or sequence.decoding else None
            if not self._has_room_for(sequence, Placement(placement.target) if match else placement):
                return
            self._waiting.remove(sequence)
            self._seat(sequence, placement, match, now_ms)

    def _seat(self, sequence: Sequence, placement: Placement, match: Match | None, now_ms: float) -> None:
        """Borrow the slot and take the prefix over: from a kept state, from a slot, or once it has been read."""
        slot = self.lanes.slots[placement.target]
        sequence.began_ms = sequence.began_ms or now_ms
        if not self.layout.can_cut and self.layout.checkpoints:
            sequence.marks = marks(sequence.n_prompt, self.layout.checkpoint_step, self.lanes.missed(sequence))
        self._running.append(sequence)
        self._running.sort(key=lambda other: other.handle)
        if match is not None:
            self.lanes.restore(slot, match)
        elif placement.await_source:
            owner = self.lanes.slots[placement.source].sequence
            assert owner is not None
            self.lanes.evict(slot)
            slot.lend(sequence, 0)
            sequence.awaited = Awaited(placement.source, owner.handle, placement.length)
            sequence.phase = Phase.AWAITING
            return
        else:
            self.lanes.begin(slot, placement, sequence)
        self._start(sequence, slot, slot.held)

    def _fork(self) -> None:
        """Sequences whose awaited prefix is there now (or never will be) take what there is, and run."""
        for sequence in self._running:
            awaited = sequence.awaited
            if awaited is None:
                continue
            source, slot = self.lanes.slots[awaited.slot], self.lanes.slots[sequence.slot]
            is_owner = source.sequence is not None and source.sequence.handle == awaited.owner
            if is_owner and source.held < awaited.length:
                continue
            offer = self.lanes.offer(source, sequence)
            if offer.length:
                self.lanes.share(source, slot, offer)
            self._start(sequence, slot, offer.length)

    def _start(self, sequence: Sequence, slot: Slot, held: int) -> None:
        """The sequence runs from here, with `held` tokens that need not be read."""
        slot.lend(sequence, held)
        sequence.awaited, sequence.phase = None, Phase.RUNNING
        if sequence.decoding:
            return
        sequence.cached, sequence.read = held, 0
        self.counters.cached_tokens += held
        if sequence.request.wants_progress:
            self._emit(sequence, self._progress(sequence, slot, sequence.began_ms))

    def _has_room_for(self, sequence: Sequence, placement: Placement) -> bool:
        """Would its own tokens find cells without putting a running sequence out?"""
        if not self._running or not self.layout.n_cells:
            return True
        needed = len(sequence.tokens) - placement.length + 1
        for other in self._running:
            known = other.awaited.length if other.awaited else self.lanes.slots[other.slot].held
            needed += len(other.tokens) - known + _MARGIN
        # What the taken slot holds beyond the prefix goes as well; what the source holds must stay.
        keep = {placement.source} | ({placement.target} if placement.source == placement.target else set())
        return needed <= self.lanes.spare(frozenset(keep))

    def _step_back(self, sequence: Sequence, now_ms: float) -> None:
        """Out of its slot, to run again when there is room; alone, it already has all there is, and ends."""
        if len(self._running) == 1:
            sequence.truncated = True
            self.counters.ended_for_room += 1
            self._end(sequence, StopType.LIMIT, now_ms)
            return
        self.counters.preempted += 1
        slot = self.lanes.slots[sequence.slot]
        self._running.remove(sequence)
        slot.release(self._tick)
        self.lanes.evict(slot)
        sequence.slot, sequence.awaited, sequence.phase = -1, None, Phase.WAITING
        self._waiting.insert(0, sequence)

    def _relieve(self, now_ms: float) -> None:
        """llama.cpp found no cells although the ledger had some: give up what is idle, ask for less, then step back."""
        self._short_of_cells = False
        if self.lanes.evict_one():
            return
        if self._chunk_limit > 1 and any(self._pending(s) > 1 for s in self._running):
            self._chunk_limit //= 2
        elif self._running:
            self._step_back(self._running[-1], now_ms)

    # Rows

    def _answer_rows(self, ready: list[Sequence], now_ms: float) -> tuple[list[PlanRow], int]:
        """A row for each running answer, and their tokens; when cells run out, the youngest sequence steps back."""
        answers = [s for s in ready if s.generated and self._pending(s) <= _SHORT]
        while True:
            counts = [self._pending(s) for s in answers]
            tokens = sum(counts)
            if self.lanes.make_room(tokens):
                return [self._row(s, count) for s, count in zip(answers, counts, strict=True)], tokens
            youngest = max((s for s in self._running if s.awaited is None), key=lambda s: s.handle)
            self._step_back(youngest, now_ms)
            answers = [s for s in answers if s is not youngest]

    def _add_readers(self, rows: list[PlanRow], readers: list[Sequence], taken: int) -> None:
        """Give what is left of the step to prompts.

        Half of it is the oldest prompt's, so that it arrives; the rest goes to whoever needs least, so that a short
        prompt does not wait for a long one.
        """
        allowance = min(self.pace.allowance(taken), self.layout.n_batch - taken, self._chunk_limit)
        reserved = allowance // 2 if len(readers) > 1 else 0
        for reader in [*sorted(readers[1:], key=self._pending), *readers[:1]]:
            if reader is readers[0]:
                reserved = 0
            slot = self.lanes.slots[reader.slot]
            if slot.held in reader.marks:
                self.lanes.keeper.checkpoint(slot)
            count = min(self._pending(reader), allowance - reserved, self._border(reader, slot.held) - slot.held)
            self.lanes.make_room(taken + count)
            count = min(count, self.lanes.cells.free - taken)
            if count <= 0:
                continue
            rows.append(self._row(reader, count))
            taken += count
            allowance -= count

    def _row(self, sequence: Sequence, count: int) -> PlanRow:
        start = self.lanes.slots[sequence.slot].held
        end = start + count
        tokens = sequence.tokens
        return PlanRow(sequence.handle, sequence.slot, tuple(tokens[start:end]), start, end == len(tokens))

    def _pending(self, sequence: Sequence) -> int:
        """Tokens that still have to be evaluated."""
        return len(sequence.tokens) - self.lanes.slots[sequence.slot].held

    def _border(self, reader: Sequence, held: int) -> int:
        """Where this reader must stop for a moment.

        Where others wait to fork: some memory can only be forked exactly there, and with any other they all go on
        together in the next step instead of trailing behind this one's answer. Where a checkpoint is to be saved.
        """
        borders = [s.awaited.length for s in self._running if s.awaited and s.awaited.owner == reader.handle]
        return min((border for border in [*borders, *reader.marks] if border > held), default=len(reader.tokens))

    def _choose_lora(self) -> tuple[LoraScale, ...]:
        """The adapter set of this step: the last one for some steps, then that of the oldest other sequence."""
        wanted = [s.request.lora for s in self._running if s.phase is Phase.RUNNING]
        others = [lora for lora in wanted if lora != self._lora]
        self._lora_steps += 1
        if others and (len(others) == len(wanted) or self._lora_steps >= _LORA_STEPS):
            self._lora, self._lora_steps = others[0], 0
        return self._lora

    def _shift_full(self, ready: list[Sequence], now_ms: float) -> None:
        """Answers that fill their slot forget an early part of their text."""
        for sequence in ready:
            slot = self.lanes.slots[sequence.slot]
            if not sequence.decoding or len(sequence.tokens) < self.layout.slot_context:
                continue
            keep, discard = shift_sizes(sequence, self.layout, slot.held)
            if discard <= 0 or not self.lanes.can_shift(slot.index):
                sequence.truncated = True
                self._end(sequence, StopType.LIMIT, now_ms)
                continue
            self.lanes.shift(slot, keep, discard)
            del sequence.tokens[keep : keep + discard]
            sequence.truncated = True

    # Results

    def _evaluated(self, sequence: Sequence, row: PlanRow, now_ms: float) -> None:
        """The row's tokens have their cells."""
        count = len(row.tokens)
        slot = self.lanes.slots[sequence.slot]
        self.lanes.cells.grow(slot.index, count)
        slot.held += count
        if sequence.decoding:
            return
        sequence.read += count
        sequence.last_ms = now_ms
        self.counters.prompt_tokens += count
        if sequence.request.wants_progress:
            self._emit(sequence, self._progress(sequence, slot, now_ms))

    def _take(self, sequence: Sequence, drawn: Drawn, now_ms: float) -> None:
        """Append what was drawn, and see whether that was the end."""
        sequence.first_ms = sequence.first_ms or now_ms
        sequence.last_ms = now_ms
        taken: list[Sampled] = []
        stop = StopType.NONE
        for sampled in drawn.sampled:
            sequence.generated += 1
            stop = self._append(sequence, sampled, taken)
            if stop is not StopType.NONE:
                break
        self.counters.generated_tokens += len(taken)
        if stop is StopType.NONE and drawn.finished:
            stop = StopType.EOS
        if stop is StopType.NONE and drawn.line_break and _out_of_time(sequence):
            stop = StopType.LIMIT
        if taken:
            self._emit(sequence, Tokens(tuple(taken), sequence.timings(), sequence.slot, sequence.seed))
        if stop is not StopType.NONE:
            self._end(sequence, stop, now_ms)

    def _append(self, sequence: Sequence, sampled: Sampled, taken: list[Sampled]) -> StopType:
        """One more token of the answer; why generation ends with it, or NONE."""
        request = sequence.request
        if sampled.token in self.layout.end_tokens or sampled.token in request.stop_tokens:
            return StopType.EOS
        sequence.tokens.append(sampled.token)
        taken.append(sampled)
        if 0 <= request.max_tokens <= sequence.generated:
            return StopType.LIMIT
        if len(sequence.tokens) >= self.layout.slot_context and not self.lanes.can_shift(sequence.slot):
            sequence.truncated = True
            return StopType.LIMIT
        return StopType.NONE

    def _end(self, sequence: Sequence, stop: StopType, now_ms: float) -> None:
        self.counters.finished += 1
        slot = sequence.slot
        self._leave(sequence)
        self._emit(sequence, Ended(stop, slot, sequence.seed, sequence.timings(), truncated=sequence.truncated))

    def _end_failed(self, sequence: Sequence, error: Exception) -> None:
        """What the slot holds is not trusted any more."""
        self.counters.failed += 1
        slot = sequence.slot
        self._leave(sequence)
        if slot >= 0:
            self.lanes.cut(self.lanes.slots[slot], 0)
        self._emit(sequence, Failed(error))

    def _leave(self, sequence: Sequence) -> None:
        """The sequence is gone; its slot keeps what was evaluated."""
        sequence.phase = Phase.ENDED
        if sequence in self._waiting:
            self._waiting.remove(sequence)
            return
        self._running.remove(sequence)
        self.lanes.slots[sequence.slot].release(self._tick)

    def _find(self, handle: int) -> Sequence | None:
        return next((s for s in [*self._waiting, *self._running] if s.handle == handle), None)

    def _emit(self, sequence: Sequence, event: EngineEvent) -> None:
        self._events.append((sequence.handle, event))

    @staticmethod
    def _progress(sequence: Sequence, slot: Slot, now_ms: float) -> PromptProgress:
        return PromptProgress(
            total=sequence.n_prompt, cache=sequence.cached, processed=slot.held, time_ms=now_ms - sequence.began_ms
        )


def shift_sizes(sequence: Sequence, layout: Layout, held: int) -> tuple[int, int]:
    """(tokens kept, tokens forgotten after them) when a full slot shifts, by llama-server's rule.

    n_keep counts prompt tokens, -1 all of them, and BOS comes on top; n_discard 0 is half of the rest.
    """
    request = sequence.request
    keep = sequence.n_prompt if request.n_keep < 0 else request.n_keep
    keep = min(layout.slot_context - 4, keep + int(layout.adds_bos), held)
    left = held - keep
    discard = request.n_discard or left // 2
    return keep, max(0, min(discard, left - 1))


def _out_of_time(sequence: Sequence) -> bool:
    limit = sequence.request.t_max_predict_ms
    return 0 < limit < sequence.last_ms - sequence.first_ms
