"""Runs a scenario: us and them in turn, pair after pair, on one event loop of the client's own."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench_server.metrics import Row, make_row
from bench_server.peers import LLAMA_SERVER
from bench_server.process import Peer, Server, running
from bench_server.scenario import SMOKE, Scenario, Sizes, Values

SETTLE_S = 0.3
"""Between two measurements: threads of the last one may still spin."""

CONTEXT, SLOTS = 16384, 8


@dataclass(frozen=True)
class Plan:
    """How everything is run. say: shows a line of progress."""

    pairs: int
    threads: int
    sizes: Sizes
    logs: Path
    say: Callable[[str], None]

    def flags(self, model: Path) -> tuple[str, ...]:
        """The same for every server."""
        threads = str(self.threads)
        return ("-m", str(model), "-t", threads, "-tb", threads, "-c", str(CONTEXT), "-np", str(SLOTS))


@dataclass
class Measured:
    """Everything that was measured in one scenario, by server and in the order of the pairs.

    rss_mib: of the servers that stayed up, after the last pair.
    """

    scenario: Scenario
    values: dict[str, list[Values]]
    rss_mib: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0

    def series(self, server: str, metric: str) -> list[float]:
        return [values[metric] for values in self.values[server]]

    def rows(self) -> list[Row]:
        ours, *peers = self.values
        rows = []
        for metric in self.scenario.metrics:
            own = self.series(ours, metric.name)
            for peer in peers or [""]:
                theirs = self.series(peer, metric.name) if peer else []
                judged = peer in ("", LLAMA_SERVER)
                rows.append(make_row(self.scenario.name, metric, peer, own, theirs, judged=judged))
        return rows


def run(scenario: Scenario, peers: Sequence[Peer], plan: Plan) -> Measured:
    """Raises DidNotStart or BadAnswer, naming the server."""
    flags: tuple[str, ...] = ()
    if scenario.model is not None:
        model = scenario.model()
        if model is None:
            raise ModelMissing(f"{scenario.name} was not run: its model could not be fetched")
        flags = plan.flags(model)
    sides = [scenario.subject(), *peers]
    measured = Measured(scenario, {side.name: [] for side in sides})
    began = time.monotonic()
    with contextlib.ExitStack() as up, contextlib.closing(client_loop()) as loop:

        def start(side: Peer) -> contextlib.AbstractContextManager[Server]:
            return running(side, flags, plan.logs / f"{scenario.name}-{side.name}.log")

        def measure(server: Server, occasion: str, sizes: Sizes) -> Values:
            time.sleep(SETTLE_S)
            return loop.run_until_complete(scenario.measure(server, f"{scenario.name}-{occasion}", sizes))

        standing: dict[str, Server] = {}
        if not scenario.fresh:
            for side in sides:
                plan.say(f"{scenario.name}: starting {side.name}")
                standing[side.name] = up.enter_context(start(side))
                measure(standing[side.name], "warm-up", SMOKE)
        for pair in range(plan.pairs):
            for side in sides:
                plan.say(f"{scenario.name}: pair {pair + 1} of {plan.pairs}, {side.name}")
                with contextlib.nullcontext(standing.get(side.name)) if standing else start(side) as server:
                    measured.values[side.name].append(measure(server, f"pair {pair}", plan.sizes))
        measured.rss_mib = {name: server.rss_mib() for name, server in standing.items()}
    measured.seconds = time.monotonic() - began
    return measured


class ModelMissing(Exception):
    """The scenario's model is not there and cannot be had."""


def client_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where there is one: the client shares the machine with the servers."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
