"""What a scenario is, and the sizes that all of them share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench_server.metrics import Metric
from bench_server.models import SMOLLM2
from bench_server.peers import LLAMA_SERVER, ours
from bench_server.process import Peer, Server

Values = Mapping[str, float]
"""A value for each metric of the scenario, by its name."""


@dataclass(frozen=True)
class Sizes:
    """In tokens, unless said otherwise. The defaults are those that the targets speak of.

    system: of `shared` and `turns`.  question, answer, requests: of `shared`.  turns: of `turns`.
    stream, long, arrivals, pause_s: of `mixed`: what the running streams write, and the prompts that come between, so
    many, so far apart.
    events: tokens of each of the streams of `front`.
    """

    decode: int = 128
    prefill: int = 1500
    system: int = 430
    question: int = 20
    answer: int = 16
    requests: int = 16
    stream: int = 256
    long: int = 600
    arrivals: int = 6
    pause_s: float = 1.0
    turns: int = 10
    constrained: int = 128
    events: int = 2000


SMOKE = Sizes(
    decode=12,
    prefill=100,
    system=60,
    answer=4,
    requests=8,
    stream=16,
    long=60,
    arrivals=2,
    pause_s=0.1,
    turns=3,
    constrained=24,
    events=100,
)
"""Shows that everything runs; the numbers mean nothing."""


@dataclass(frozen=True)
class Scenario:
    """A kind of load and what is measured under it.

    measure: puts the load on a server; `occasion` names the run, and what is asked on one occasion was never asked
        before.  peers: those that can be compared with, by name.  subject: ours.  model: None where none is needed;
        a function, since one may have to be fetched; it gives None when it cannot be had.
    fresh: every measurement has a server of its own; else all stay up and are measured in turn.
    """

    name: str
    metrics: tuple[Metric, ...]
    measure: Callable[[Server, str, Sizes], Awaitable[Values]]
    peers: tuple[str, ...] = (LLAMA_SERVER,)
    subject: Callable[[], Peer] = ours
    model: Callable[[], Path | None] | None = lambda: SMOLLM2
    fresh: bool = False
