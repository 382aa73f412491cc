"""One request while it runs: its sequences, and the way to its steps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from ferrox_gguf.events import Step
from ferrox_gguf.runtime.step_queue import StepQueue


@dataclass(slots=True)
class Run:
    """prompt_tokens: of each choice.  prompt_text: a choice's prompt as text.

    cancel() may be called at any time and more than once; a run that has ended is not touched by it.
    end_thought: closes the running thought of each choice that can (`/v1/chat/completions/control`); False if none can.
    """

    queue: StepQueue
    prompt_tokens: tuple[int, ...]
    prompt_text: Callable[[int], str]
    cancels: list[Callable[[], None]] = field(default_factory=list)
    generation_prompt: str = ""
    end_thought: Callable[[], bool] = lambda: False

    def cancel(self) -> None:
        for cancel in self.cancels:
            cancel()

    async def steps(self) -> AsyncIterator[Step]:
        """Every step in order, until the request has ended; raises what ended it early."""
        while not self.queue.over:
            for step in await self.queue.next():
                yield step
