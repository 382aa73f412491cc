"""One request while it runs: its sequences, and the way to its steps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from ferrox_gguf.events import Step
from ferrox_gguf.runtime.budget import ThoughtBudget
from ferrox_gguf.runtime.step_queue import StepQueue


@dataclass(slots=True)
class Run:
    """prompt_tokens: of each choice.  prompt_text: a choice's prompt as text.

    cancels: ends one sequence each.  budgets: of the choices whose thought can be ended while it runs.
    """

    queue: StepQueue
    prompt_tokens: tuple[int, ...]
    prompt_text: Callable[[int], str]
    cancels: list[Callable[[], None]] = field(default_factory=list)
    budgets: list[ThoughtBudget] = field(default_factory=list)

    def end_thought(self) -> bool:
        """Close the running thoughts (`/v1/chat/completions/control`); False where that was not asked for in time."""
        for budget in self.budgets:
            budget.end()
        return bool(self.budgets)

    def cancel(self) -> None:
        """At any time and more than once; a sequence that has ended is not touched by it."""
        for cancel in self.cancels:
            cancel()

    async def steps(self) -> AsyncIterator[Step]:
        """Every step in order, until the request has ended; raises what ended it early."""
        while not self.queue.over:
            for step in await self.queue.next():
                yield step
