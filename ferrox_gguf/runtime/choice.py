"""One sequence on its way out: the engine's events become Steps. Runs on the event loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ferrox_gguf.engine.contract import Ended, EngineEvent, Failed, Probability, PromptProgress, Sampled, Tokens
from ferrox_gguf.events import (
    Candidate,
    ContentDelta,
    Finish,
    OutputEvent,
    Progress,
    Step,
    StopType,
    Timings,
    TokenInfo,
    ToolCallEnd,
    Usage,
)
from ferrox_gguf.output.pieces import End
from ferrox_gguf.runtime.indentation import Indentation
from ferrox_gguf.runtime.reader import Reader
from ferrox_gguf.runtime.step_queue import StepQueue


class Choice:
    """Reads one sequence's tokens and puts its steps into the request's queue; cancels it when the text says stop.

    cancel: tells the engine that nothing more is wanted.  piece: a token's bytes, for probabilities.
    """

    def __init__(
        self,
        index: int,
        *,
        queue: StepQueue,
        reader: Reader,
        indentation: Indentation,
        prompt_tokens: int,
        cancel: Callable[[], None],
        piece: Callable[[int], bytes],
    ) -> None:
        self._index, self._queue, self._reader = index, queue, reader
        self._indentation = indentation
        self._prompt_tokens, self._cancel, self._piece = prompt_tokens, cancel, piece
        self._taken = 0
        self._called = self._over = False

    def sink(self, event: EngineEvent) -> None:
        """Take what one engine step made of this sequence."""
        if self._over:
            return
        if isinstance(event, Tokens):
            self._read(event)
        elif isinstance(event, PromptProgress):
            progress = Progress(event.total, event.cache, event.processed, event.time_ms)
            self._queue.put(Step(self._index, progress=progress))
        elif isinstance(event, Ended):
            self._end(event)
        else:
            self._fail(event)

    def _read(self, event: Tokens) -> None:
        events: list[OutputEvent] = []
        taken, cut = 0, False
        for sampled in event.sampled:
            taken += 1
            events += self._reader.push(sampled.token)
            cut = self._reader.stop is not None or self._outdented(events)
            if cut:
                break
        self._taken += taken
        sampled_now = event.sampled[:taken]
        if cut:
            self._cancel()
            events += self._reader.flush(End.CUT) if self._reader.stop else ()
            timings = replace(event.timings, predicted_tokens=self._taken)
            finish = self._finish(StopType.LIMIT, timings, slot=event.slot, seed=event.seed)
            self._put(events, sampled_now, timings, finish)
        else:
            self._put(events, sampled_now, event.timings)

    def _outdented(self, events: list[OutputEvent]) -> bool:
        """Judge the newest text, and cut it where a line is not indented enough."""
        if not events or not isinstance(last := events[-1], ContentDelta):
            return False
        end = self._indentation.end(last.text)
        if end is None:
            return False
        events[-1:] = [ContentDelta(last.text[:end])] if end else []
        return True

    def _end(self, event: Ended) -> None:
        events = self._reader.flush(End.DONE if event.stop is StopType.EOS else End.CUT)
        finish = self._finish(event.stop, event.timings, slot=event.slot, seed=event.seed, truncated=event.truncated)
        self._put(events, (), event.timings, finish)

    def _fail(self, event: Failed) -> None:
        self._over = True
        self._queue.fail(event.error)

    def _put(
        self, events: Sequence[OutputEvent], sampled: Sequence[Sampled], timings: Timings, finish: Finish | None = None
    ) -> None:
        if not self._called:
            self._called = any(isinstance(event, ToolCallEnd) and event.whole for event in events)
        if finish:
            self._over = True
            finish = replace(finish, called=self._called) if self._called else finish
        self._queue.put(
            Step(
                self._index,
                tuple(events),
                tuple([one.token for one in sampled]),
                tuple([self._info(one) for one in sampled if one.chosen]),
                None,
                timings,
                finish,
            )
        )

    def _finish(self, stop: StopType, timings: Timings, *, slot: int, seed: int, truncated: bool = False) -> Finish:
        usage = Usage(
            prompt_tokens=self._prompt_tokens,
            cached_tokens=timings.cache_tokens,
            completion_tokens=timings.predicted_tokens,
            reasoning_tokens=self._reader.reasoning_tokens,
        )
        word = ""
        if (found := self._reader.stop) is not None:
            # A family's end marker that was spelled out is as good as its token.
            stop, word = (StopType.EOS, "") if found.own else (StopType.WORD, found.word)
        return Finish(stop, usage, timings, word, truncated=truncated, slot=slot, seed=seed)

    def _info(self, sampled: Sampled) -> TokenInfo:
        assert sampled.chosen is not None
        return TokenInfo(self._candidate(sampled.chosen), tuple(self._candidate(other) for other in sampled.top))

    def _candidate(self, one: Probability) -> Candidate:
        return Candidate(one.token, self._piece(one.token), one.logprob)
