"""From the engine's hand-offs to whoever sends the answer: never blocks the one, never overruns the other.

A reader that keeps up sees every step. One that does not finds its steps merged: the text and the counts stay exact,
the frames get fewer, and what waits here is bounded by the answer itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from ferrox_gguf.events import (
    ContentDelta,
    OutputEvent,
    ReasoningDelta,
    Step,
    ToolCallArguments,
)

MERGE_AFTER = 256
"""Steps that may wait one by one: at 256 bytes a frame 64 KiB of them, as much again as the transport holds."""


class StepQueue:
    """All steps of one request, every choice's in its order. Made and used inside a running event loop.

    over: every choice has finished (or one error ended them all) and nothing waits.
    """

    def __init__(self, choices: int) -> None:
        self._open = choices
        self._waiting: list[Step] = []
        self._error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._wants_all = False
        self._loop = asyncio.get_running_loop()
        self._alarm: asyncio.TimerHandle | None = None
        self._heard = 0.0

    @property
    def over(self) -> bool:
        return self._open == 0 and not self._waiting and self._error is None

    def put(self, step: Step) -> None:
        self._waiting.append(step)
        if step.finish:
            self._open -= 1
        if self._reader is None:
            if len(self._waiting) >= MERGE_AFTER:
                self._waiting = merged(self._waiting)
        elif not self._wants_all or self._open == 0:
            self._wake()

    def fail(self, error: Exception) -> None:
        """End every choice. What was put before is still read first; only the first error counts."""
        if self._open:
            self._open, self._error = 0, error
            self._wake()

    async def next(self, silence: float | None = None) -> list[Step]:
        """What has come since the last call, at least one step; [] after `silence` seconds without any, or at the end.

        Raises the error that ended the request, once.
        """
        if not self._waiting and self._open:
            if silence is not None and self._alarm is None:
                self._alarm = self._loop.call_later(silence, self._ring, silence)
            self._heard = self._loop.time()
            self._reader = self._loop.create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        steps, self._waiting = self._waiting, []
        if not steps and self._error:
            error, self._error = self._error, None
            raise error
        return steps

    async def all(self) -> list[Step]:
        """Everything up to the end, woken once. Raises the error that ended the request."""
        self._wants_all = True
        while self._open:
            self._reader = self._loop.create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        if self._error:
            raise self._error
        steps, self._waiting = self._waiting, []
        return steps

    def close(self) -> None:
        """Nobody reads any more."""
        if self._alarm:
            self._alarm.cancel()
            self._alarm = None

    def _ring(self, silence: float) -> None:
        """Wake a reader that has heard nothing for so long. One timer a stream, set anew only when it has rung."""
        left = self._heard + silence - self._loop.time()
        if self._reader is None or left > 0:
            self._alarm = self._loop.call_later(max(left, silence / 2), self._ring, silence)
        else:
            self._alarm = None
            self._wake()

    def _wake(self) -> None:
        if self._reader and not self._reader.done():
            self._reader.set_result(None)


def merged(steps: Iterable[Step]) -> list[Step]:
    """One step a choice, in which neighbouring deltas of one kind are one."""
    by_choice: dict[int, list[Step]] = {}
    for step in steps:
        by_choice.setdefault(step.choice, []).append(step)
    return [step for own in by_choice.values() for step in merge_choice(own)]


def merge_choice(steps: list[Step]) -> list[Step]:
    """One step; and the probabilities of tokens that showed nothing yet stay apart, since a stop may take them back."""
    end = len(steps)
    while end and steps[end - 1].infos and not steps[end - 1].events:
        end -= 1
    return [*([merge_steps(steps[:end])] if end else ()), *steps[end:]]


def merge_steps(steps: list[Step]) -> Step:
    last = steps[-1]
    return Step(
        choice=last.choice,
        events=tuple(merge_events(event for step in steps for event in step.events)),
        tokens=tuple(token for step in steps for token in step.tokens),
        infos=tuple(info for step in steps for info in step.infos),
        progress=next((step.progress for step in reversed(steps) if step.progress), None),
        timings=last.timings,
        finish=last.finish,
        slot=last.slot,
    )


def merge_events(events: Iterable[OutputEvent]) -> list[OutputEvent]:
    out: list[OutputEvent] = []
    texts: list[str] = []
    for event in events:
        if out and same_run(out[-1], event):
            texts.append(text_of(event))
        else:
            close_run(out, texts)
            out.append(event)
            texts = [text_of(event)]
    close_run(out, texts)
    return out


def same_run(last: OutputEvent, event: OutputEvent) -> bool:
    """May the two be one delta?"""
    if isinstance(last, ToolCallArguments) and isinstance(event, ToolCallArguments):
        return last.index == event.index
    return type(last) is type(event) and isinstance(event, (ContentDelta, ReasoningDelta))


def text_of(event: OutputEvent) -> str:
    if isinstance(event, (ContentDelta, ReasoningDelta)):
        return event.text
    return event.fragment if isinstance(event, ToolCallArguments) else ""


def close_run(out: list[OutputEvent], texts: list[str]) -> None:
    """Give the run's first event the text of them all."""
    if len(texts) < 2:
        return
    first, text = out[-1], "".join(texts)
    if isinstance(first, ToolCallArguments):
        out[-1] = ToolCallArguments(first.index, text)
    else:
        out[-1] = ContentDelta(text) if isinstance(first, ContentDelta) else ReasoningDelta(text)
