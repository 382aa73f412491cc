"""Decides every step: who gets a slot, what is read and decoded, and what ends.

A value machine: submit, plan, commit, cancel. No llama.cpp, no clock and no thread; time and measured results come in
as arguments, decisions go out as a BatchPlan and as events. `executor.py` obeys the plan, `loop.py` turns the handle.

Order of a plan: waiting sequences take slots; those that awaited another's prefix fork it; each running answer gets its
row; what is left of the batch, the cells and the step's time is given to prompts.
"""

from __future__ import annotations

from collections.abc import Callable

from ferrox_gguf.engine.contract import Ended, EngineEvent, Failed, PromptProgress, Tokens
from ferrox_gguf.engine.ending import append, shift_sizes
from ferrox_gguf.engine.gathering import Reader, gather
from ferrox_gguf.engine.keeper import NO_LIMIT_MS
from ferrox_gguf.engine.lanes import Lanes
from ferrox_gguf.engine.layout import Layout
from ferrox_gguf.engine.pace import EFFICIENT, Pace
from ferrox_gguf.engine.plan import BatchPlan, Drawn, Gathered, Outcome, PlanRow, Verdict
from ferrox_gguf.engine.seating import Seating
from ferrox_gguf.engine.sequence import Phase, Sequence
from ferrox_gguf.engine.stats import Counters
from ferrox_gguf.engine.turns import LoraTurns, fair_shares
from ferrox_gguf.events import StopType

Event = tuple[int, EngineEvent]

_LITTLE = 8
"""Tokens that a prompt may have left and still stop before them for others."""
_SHORT = 32
"""Tokens that an answer may have pending (a guide forced them) and still be served before the prompts."""


class Scheduler:
    """Steps: plan(), let the executor obey it, commit(). submit() and cancel() between steps."""

    def __init__(self, layout: Layout, *, first_position: Callable[[int], int] = lambda slot: 0) -> None:
        self.layout = layout
        self.counters = Counters()
        self.lanes = Lanes(layout, self.counters, first_position)
        self.pace = Pace(layout.step_budget_ms, layout.n_ubatch)
        self._seating = Seating(layout, self.lanes, self.counters)
        self._lora_turns = LoraTurns()
        self._events: list[Event] = []
        self._chunk_limit = layout.n_batch
        self._short_of_cells = False

    # Between steps

    def submit(self, sequence: Sequence) -> None:
        """Queue a sequence; it takes a slot in a later plan."""
        self.counters.submitted += 1
        self._seating.waiting.append(sequence)

    def cancel(self, handle: int) -> bool:
        """Forget a sequence; its slot is free for the next plan. False when it was not there."""
        sequence = self._seating.find(handle)
        if sequence is None:
            return False
        self.counters.cancelled += 1
        self._seating.leave(sequence)
        return True

    def fail(self, handle: int, error: Exception) -> None:
        """End a sequence with an error, and no other."""
        sequence = self._seating.find(handle)
        if sequence is not None:
            self._end_failed(sequence, error)

    def forget_everything(self) -> None:
        """Trust nothing that any slot or the archive holds. No sequence may be there any more."""
        for slot in self.lanes.slots:
            self.lanes.forget(slot)
        self.lanes.keeper.forget_all()

    @property
    def busy(self) -> bool:
        return bool(self._seating.waiting or self._seating.running)

    @property
    def queued(self) -> int:
        """Sequences without a slot."""
        return len(self._seating.waiting)

    def handles(self) -> list[int]:
        """Every sequence that has not ended."""
        return [sequence.handle for sequence in [*self._seating.waiting, *self._seating.running]]

    def take_events(self) -> list[Event]:
        """Events so far, each given once."""
        events, self._events = self._events, []
        return events

    # One step

    def plan(self, now_ms: float) -> BatchPlan:
        """The next step. Its cell operations count as done from here on; its rows only with commit()."""
        seating, running = self._seating, self._seating.running
        if self._short_of_cells:
            self._relieve(now_ms)
        answering = any(s.generated for s in running)
        self.lanes.keeper.budget_ms = self.layout.step_budget_ms / 2 if answering else NO_LIMIT_MS
        started = seating.admit(now_ms) if seating.waiting else []
        for sequence in [*started, *seating.fork()]:
            self._report_progress(sequence, sequence.began_ms)
        if not self.layout.shares_cells:
            seating.close_ranks()
        elif started and self.layout.clear_idle:
            self._clear_idle()
        ready = [s for s in running if s.phase is Phase.RUNNING]
        lora = self._lora_turns.choose([s.request.lora for s in ready])
        ready = [s for s in ready if s.request.lora == lora]
        if self.layout.context_shift:
            ready = self._shift_full(ready, now_ms)
        rows, decoding = self._answer_rows(ready, now_ms)
        gathered = None
        if len(rows) < len(ready):
            served = {row.sequence for row in rows}
            readers = [s for s in ready if s.handle not in served and s.phase is Phase.RUNNING]
            gathered = self._add_readers(rows, readers, decoding, now_ms)
        if not self.layout.shares_cells:
            # llama.cpp computes slots with caches of their own together only where they are neighbours in the batch.
            rows.sort(key=lambda row: row.slot)
        return BatchPlan(self.lanes.take_operations(), tuple(rows), lora, decoding, gathered)

    def commit(self, plan: BatchPlan, outcome: Outcome, now_ms: float) -> list[Event]:
        """Take the step's results in; the events for each sequence, in order."""
        self._seating.tick += 1
        if plan.operations:
            self.lanes.commit(plan.operations, outcome)
        if outcome.verdict is not Verdict.DONE:
            self._short_of_cells = outcome.verdict is Verdict.FULL
            return self.take_events()
        if plan.rows:
            self._learn(plan, outcome.decode_ms)
        by_handle = {sequence.handle: sequence for sequence in self._seating.running}
        drawn_of = outcome.drawn.get
        for index, row in enumerate(plan.rows):
            sequence = by_handle[row.sequence]
            drawn = drawn_of(index)
            if drawn is None:
                self._evaluated(sequence, row, now_ms)
            elif drawn.error is not None:
                self._end_failed(sequence, drawn.error)
            else:
                self._evaluated(sequence, row, now_ms)
                self._take(sequence, drawn, now_ms)
        return self.take_events()

    # Rows

    def _answer_rows(self, ready: list[Sequence], now_ms: float) -> tuple[list[PlanRow], int]:
        """A row for each running answer, and their tokens; when cells run out, the youngest sequence steps back."""
        answers = [s for s in ready if s.generated and self._pending(s) <= _SHORT]
        while True:
            counts = [self._pending(s) for s in answers]
            tokens = sum(counts)
            if self.lanes.make_room(tokens):
                return [self._row(s, count) for s, count in zip(answers, counts, strict=True)], tokens
            youngest = max((s for s in self._seating.running if s.awaited is None), key=lambda s: s.handle)
            self._step_back(youngest, now_ms)
            answers = [s for s in answers if s is not youngest]

    def _add_readers(self, rows: list[PlanRow], readers: list[Sequence], taken: int, now_ms: float) -> Gathered | None:
        """Give what is left of the step to prompts; those of them that are read together."""
        if not readers:
            return None
        wanted = []
        for reader in readers:
            slot = self.lanes.slots[reader.slot]
            if slot.held in reader.marks:
                self.lanes.keeper.checkpoint(slot)
            wanted.append(self._border(reader, slot.held) - slot.held)
        if self.layout.room and (gathered := self._gather(rows, readers, wanted)):
            return gathered
        allowance = self.pace.allowance(taken, wanted[0], sum(wanted))
        allowance = min(allowance, self.layout.n_batch - taken, self._chunk_limit)
        for reader, share in zip(readers, fair_shares(wanted, allowance), strict=True):
            self.lanes.make_room(taken + share)
            count = min(share, self.lanes.cells.free - taken)
            if count > 0:
                rows.append(self._row(reader, count))
                taken += count
        if not rows:
            # Prompts fill every cell and none can go on: one must make room for the others.
            self._step_back(self._seating.running[-1], now_ms)
        return None

    def _gather(self, rows: list[PlanRow], readers: list[Sequence], wanted: list[int]) -> Gathered | None:
        """Rows for prompts that are read together, if there are such; then no other prompt is read in this step."""
        slots = self.lanes.slots
        most = min(self.pace.together(), self.layout.n_ubatch)
        length, members = gather(
            [
                Reader(reader, slots[reader.slot].held, want == self._pending(reader))
                for reader, want in zip(readers, wanted, strict=True)
            ],
            most,
            self.layout.room,
        )
        if not members:
            return None
        for member in members:
            sequence = member.sequence
            self.lanes.read_again(slots[sequence.slot], length)
            rows.append(self._row(sequence, len(sequence.tokens) - length))
        prefix = tuple(members[0].sequence.tokens[:length])
        return Gathered(prefix, frozenset(member.sequence.handle for member in members))

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
        together in the next step instead of trailing behind this one's answer; but not for a rest that would be dear
        by itself. Where a checkpoint is to be saved.
        """
        end = len(reader.tokens)
        borders = [s.awaited.length for s in self._seating.running if s.awaited and s.awaited.owner == reader.handle]
        if self.layout.can_cut:
            borders = [border for border in borders if not _LITTLE < end - border < EFFICIENT]
        return min((border for border in [*borders, *reader.marks] if border > held), default=end)

    # Room

    def _step_back(self, sequence: Sequence, now_ms: float) -> None:
        """The sequence gives its cells up for a while; alone, it already has all there are, and ends."""
        if len(self._seating.running) > 1:
            self._seating.step_back(sequence)
            return
        sequence.truncated = True
        self.counters.ended_for_room += 1
        self._end(sequence, StopType.LIMIT, now_ms)

    def _clear_idle(self) -> None:
        """Saving delays this step: by no more than what is left of half of one."""
        keeper = self.lanes.keeper
        keeper.budget_ms = min(keeper.budget_ms, self.layout.step_budget_ms / 2)
        self.lanes.clear_idle(sum(len(sequence.tokens) for sequence in self._seating.running))

    def _relieve(self, now_ms: float) -> None:
        """llama.cpp found no cells although the ledger had some: give up what is idle, ask for less, then step back."""
        self._short_of_cells = False
        running = self._seating.running
        if self.lanes.evict_one():
            return
        if self._chunk_limit > 1 and any(self._pending(s) > 1 for s in running):
            self._chunk_limit //= 2
        elif running:
            self._step_back(running[-1], now_ms)

    def _shift_full(self, ready: list[Sequence], now_ms: float) -> list[Sequence]:
        """Answers that fill their slot forget an early part of their text; those that go on."""
        for sequence in ready:
            slot = self.lanes.slots[sequence.slot]
            if not sequence.decoding or len(sequence.tokens) < self.layout.slot_context:
                continue
            sequence.truncated = True
            keep, discard = shift_sizes(sequence, self.layout, slot.held)
            if discard <= 0 or not self.lanes.can_shift(slot.index):
                self._end(sequence, StopType.LIMIT, now_ms)
                continue
            self.lanes.shift(slot, keep, discard)
            del sequence.tokens[keep : keep + discard]
        return [s for s in ready if s.phase is Phase.RUNNING]

    # Results

    def _learn(self, plan: BatchPlan, elapsed_ms: float) -> None:
        """What this step cost."""
        prompt_tokens = plan.n_tokens - plan.decoding
        self._chunk_limit = min(self.layout.n_batch, self._chunk_limit * 2)
        self.pace.observe(plan.decoding, prompt_tokens, elapsed_ms)
        self.counters.observe_step(plan.decoding, prompt_tokens, len(plan.rows), elapsed_ms)

    def _evaluated(self, sequence: Sequence, row: PlanRow, now_ms: float) -> None:
        """The row's tokens have their cells."""
        count = len(row.tokens)
        self.lanes.cells.grow(row.slot, count)
        slot = self.lanes.slots[row.slot]
        slot.held += count
        self.counters.longest = max(self.counters.longest, slot.held)
        if sequence.generated:
            return
        sequence.read += count
        sequence.last_ms = now_ms
        self.counters.prompt_tokens += count
        self._report_progress(sequence, now_ms)

    def _take(self, sequence: Sequence, drawn: Drawn, now_ms: float) -> None:
        """Append what was drawn, and end what ends."""
        sequence.first_ms = sequence.first_ms or now_ms
        sequence.last_ms = now_ms
        can_shift = self.layout.context_shift and self.lanes.can_shift(sequence.slot)
        shown, stop = append(sequence, drawn, self.layout, can_shift=can_shift)
        if shown:
            self.counters.generated_tokens += len(shown)
            self._emit(sequence, Tokens(shown, sequence.timings(), sequence.slot, sequence.seed))
        if stop is not StopType.NONE:
            self._end(sequence, stop, now_ms)

    def _end(self, sequence: Sequence, stop: StopType, now_ms: float) -> None:
        self.counters.finished += 1
        sequence.last_ms = now_ms
        self._seating.leave(sequence)
        ended = Ended(stop, sequence.slot, sequence.seed, sequence.timings(), truncated=sequence.truncated)
        self._emit(sequence, ended)

    def _end_failed(self, sequence: Sequence, error: Exception) -> None:
        """What the slot holds is not trusted any more."""
        self.counters.failed += 1
        self._seating.leave(sequence)
        if sequence.slot >= 0:
            self.lanes.cut(self.lanes.slots[sequence.slot], 0)
        self._emit(sequence, Failed(error))

    def _report_progress(self, sequence: Sequence, now_ms: float) -> None:
        """How far the prompt has been read, for those who asked."""
        if sequence.request.wants_progress and not sequence.generated:
            processed = self.lanes.slots[sequence.slot].held
            elapsed = now_ms - sequence.began_ms
            self._emit(sequence, PromptProgress(sequence.n_prompt, sequence.cached, processed, elapsed))

    def _emit(self, sequence: Sequence, event: EngineEvent) -> None:
        self._events.append((sequence.handle, event))
