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
    ToolCallStart,
    Usage,
)
from ferrox_gguf.output.pieces import End
from ferrox_gguf.request import Generation
from ferrox_gguf.runtime.indentation import Indentation
from ferrox_gguf.runtime.reader import Reader
from ferrox_gguf.runtime.step_queue import StepQueue


class Choice:
    """Reads one sequence's tokens and puts its steps into the request's queue; cancels it when the text says stop.

    cancel: tells the engine that nothing more is wanted.  piece: a token's bytes, for probabilities.
    one_call: the answer ends where a second call begins (`parallel_tool_calls: false`).
    """

    def __init__(
        self,
        index: int,
        *,
        queue: StepQueue,
        reader: Reader,
        generation: Generation,
        prompt_tokens: int,
        cancel: Callable[[], None],
        piece: Callable[[int], bytes],
        one_call: bool = False,
    ) -> None:
        self._index, self._queue, self._reader = index, queue, reader
        self._indentation = Indentation(generation.n_indent) if generation.n_indent > 0 else None
        self._prompt_tokens, self._cancel, self._piece = prompt_tokens, cancel, piece
        self._one_call, self._limit = one_call, generation.max_tokens
        self._judged = one_call or self._indentation is not None
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
            so_far = Timings(event.cache, max(0, event.processed - event.cache), event.time_ms)
            self._queue.put(Step(self._index, progress=progress, timings=so_far))
        elif isinstance(event, Ended):
            self._end(event)
        else:
            self._fail(event)

    def _read(self, event: Tokens) -> None:
        reader, sampled = self._reader, event.sampled
        if self._limit == 0:
            # The prompt was wanted in the cache and nothing else; the engine draws a token to know that it is there.
            self._end_here(StopType.LIMIT, [], (), event)
            return
        if len(sampled) == 1 and not self._judged:
            # Nearly every step of nearly every stream.
            events = reader.push(sampled[0].token)
            self._taken += 1
            if reader.chain.stop is None:
                self._put(events, sampled, event.timings, event.slot)
            else:
                self._end_here(StopType.WORD, list(events), sampled, event)
            return
        events, taken = [], 0
        for one in sampled:
            taken += 1
            events += reader.push(one.token)
            stop = self._stop(events)
            if stop:
                self._taken += taken
                self._end_here(stop, events, sampled[:taken], event)
                return
        self._taken += taken
        self._put(events, sampled, event.timings, event.slot)

    def _end_here(self, stop: StopType, events: list[OutputEvent], sampled: Sequence[Sampled], event: Tokens) -> None:
        """The text has ended the answer; what the engine makes beyond it is neither shown nor counted."""
        self._cancel()
        if self._reader.chain.stop:
            events += self._reader.flush(End.CUT)
        timings = replace(event.timings, predicted_tokens=self._taken)
        finish = self._finish(stop, timings, slot=event.slot, seed=event.seed)
        self._put(events, sampled, timings, event.slot, finish)

    def _stop(self, events: list[OutputEvent]) -> StopType | None:
        """Does the answer end here, by its own text? What is behind the end is taken off."""
        if self._reader.chain.stop is not None:
            return StopType.WORD
        if self._indentation and self._outdented(events):
            return StopType.LIMIT
        if self._one_call:
            for at, event in enumerate(events):
                if isinstance(event, ToolCallStart) and event.index > 0:
                    del events[at:]
                    return StopType.EOS
        return None

    def _outdented(self, events: list[OutputEvent]) -> bool:
        """Judge the newest text, and cut it where a line is not indented enough."""
        assert self._indentation
        if not events or not isinstance(last := events[-1], ContentDelta):
            return False
        end = self._indentation.end(last.text)
        if end is None:
            return False
        events[-1:] = [ContentDelta(last.text[:end])] if end else []
        return True

    def _end(self, event: Ended) -> None:
        events = list(self._reader.flush(End.DONE if event.stop is StopType.EOS else End.CUT))
        if self._one_call:
            self._stop(events)
        finish = self._finish(event.stop, event.timings, slot=event.slot, seed=event.seed, truncated=event.truncated)
        self._put(events, (), event.timings, event.slot, finish)

    def _fail(self, event: Failed) -> None:
        self._over = True
        self._queue.fail(event.error)

    def _put(
        self,
        events: Sequence[OutputEvent],
        sampled: Sequence[Sampled],
        timings: Timings,
        slot: int,
        finish: Finish | None = None,
    ) -> None:
        for event in events:
            if type(event) is ToolCallEnd and event.whole:
                self._called = True
        if finish:
            self._over = True
            finish = replace(finish, called=self._called) if self._called else finish
        tokens: tuple[int, ...]
        infos: tuple[TokenInfo, ...] = ()
        if len(sampled) == 1 and sampled[0].chosen is None:
            tokens = (sampled[0].token,)
        else:
            tokens = tuple([one.token for one in sampled])
            infos = tuple([self._info(one) for one in sampled if one.chosen])
        self._queue.put(Step(self._index, tuple(events), tokens, infos, None, timings, finish, slot))

    def _finish(self, stop: StopType, timings: Timings, *, slot: int, seed: int, truncated: bool = False) -> Finish:
        usage = Usage(
            prompt_tokens=self._prompt_tokens,
            cached_tokens=timings.cache_tokens,
            completion_tokens=timings.predicted_tokens,
            reasoning_tokens=self._reader.chain.reasoning_tokens,
        )
        word = ""
        if (found := self._reader.chain.stop) is not None:
            # A family's end marker that was spelled out is as good as its token.
            stop, word = (StopType.EOS, "") if found.own else (StopType.WORD, found.word)
        return Finish(stop, usage, timings, word, truncated=truncated, slot=slot, seed=seed)

    def _info(self, sampled: Sampled) -> TokenInfo:
        assert sampled.chosen is not None
        return TokenInfo(self._candidate(sampled.chosen), tuple(self._candidate(other) for other in sampled.top))

    def _candidate(self, one: Probability) -> Candidate:
        return Candidate(one.token, self._piece(one.token), one.logprob)
