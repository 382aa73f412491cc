"""Turns a scheduler by hand over a scripted executor, and keeps what came out."""

from __future__ import annotations

from collections.abc import Iterable

from support.scripted_executor import ScriptedExecutor

from ferrox_gguf.engine.contract import Ended, EngineEvent, SequenceRequest, Tokens
from ferrox_gguf.engine.layout import Layout
from ferrox_gguf.engine.plan import BatchPlan
from ferrox_gguf.engine.scheduler import Scheduler
from ferrox_gguf.engine.sequence import Sequence
from ferrox_gguf.request import Sampling

END = 2


def request(tokens: Iterable[int], **changes: object) -> SequenceRequest:
    """A request with neutral settings."""
    return SequenceRequest(tuple(tokens), Sampling(seed=1), **changes)  # type: ignore[arg-type]


class Stepper:
    """One scheduler, one executor, a clock that advances one millisecond a step."""

    def __init__(self, layout: Layout, executor: ScriptedExecutor | None = None) -> None:
        self.executor = executor or ScriptedExecutor(
            n_slots=layout.n_slots,
            n_cells=layout.n_cells,
            window=layout.window,
            recurrent=layout.recurrent,
            shares_cells=layout.shares_cells,
        )
        self.scheduler = Scheduler(layout, first_position=self.executor.first_position)
        self.events: dict[int, list[EngineEvent]] = {}
        self.now = 1.0
        self._handle = 0

    def submit(self, tokens: Iterable[int], **changes: object) -> int:
        self._handle += 1
        asked = request(tokens, **changes)
        seed = self.executor.open(self._handle, asked)
        self.scheduler.submit(Sequence(self._handle, asked, seed))
        self.events[self._handle] = []
        return self._handle

    def step(self) -> BatchPlan:
        self.now += 1.0
        plan = self.scheduler.plan(self.now)
        outcome = self.executor.execute(plan)
        self.check_account()
        self.now += outcome.decode_ms
        for handle, event in self.scheduler.commit(plan, outcome, self.now):
            self.events[handle].append(event)
        return plan

    def run(self, limit: int = 10_000) -> int:
        """Step until nothing is left to do; the number of steps."""
        for steps in range(limit):
            if not self.scheduler.busy:
                return steps
            self.step()
        raise AssertionError(f"not finished after {limit} steps")

    def check_account(self) -> None:
        """The ledger and the cells agree before every decode."""
        assert self.scheduler.lanes.cells.used <= (self.executor.n_cells or 2**62)
        if not self.executor.shares_cells:
            assert all(slot.held <= self.scheduler.layout.slot_context for slot in self.scheduler.lanes.slots)

    def said(self, handle: int) -> list[int]:
        return [s.token for event in self.events[handle] if isinstance(event, Tokens) for s in event.sampled]

    def ended(self, handle: int) -> Ended:
        (event,) = [event for event in self.events[handle] if isinstance(event, Ended)]
        return event
