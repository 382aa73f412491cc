"""Runs requests through a real engine and brings back what each said, with the log-probability of every token."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ferrox_gguf.engine.contract import Ended, EngineEvent, Failed, SequenceRequest, Tokens
from ferrox_gguf.engine.loop import EngineLoop
from ferrox_gguf.events import Timings
from ferrox_gguf.request import Sampling


@dataclass(frozen=True)
class Said:
    """logprobs: for each token said, the natural log-probability of every candidate asked for, before sampling."""

    tokens: list[int]
    logprobs: list[dict[int, float]]
    timings: Timings
    slot: int


@asynccontextmanager
async def running(engine: EngineLoop) -> AsyncIterator[EngineLoop]:
    engine.start()
    try:
        yield engine
    finally:
        engine.stop()
        assert await engine.wait_stopped(20)


def greedy(tokens: Sequence[int], **changes: object) -> SequenceRequest:
    """A request whose answer depends on nothing but its tokens. n_probs: all of a byte vocabulary."""
    options: dict[str, object] = {"max_tokens": 8, "n_probs": 1000, **changes}
    sampling = Sampling(temperature=0.0, seed=1, ignore_eos=bool(options.pop("ignore_eos", False)))
    return SequenceRequest(tuple(tokens), sampling, **options)  # type: ignore[arg-type]


async def play(engine: EngineLoop, request: SequenceRequest) -> Said:
    """Run one request to its end; AssertionError when it fails."""
    events: list[EngineEvent] = []
    done = asyncio.Event()

    def sink(event: EngineEvent) -> None:
        events.append(event)
        if isinstance(event, (Ended, Failed)):
            done.set()

    engine.submit(request, sink)
    await asyncio.wait_for(done.wait(), 60)
    ended = events[-1]
    assert isinstance(ended, Ended), ended
    sampled = [each for event in events if isinstance(event, Tokens) for each in event.sampled]
    return Said(
        [each.token for each in sampled],
        [{candidate.token: candidate.logprob for candidate in each.top} for each in sampled],
        ended.timings,
        ended.slot,
    )


async def play_all(engine: EngineLoop, requests: Sequence[SequenceRequest]) -> list[Said]:
    return list(await asyncio.gather(*[play(engine, request) for request in requests]))
