"""Scenarios in which every measurement has a server of its own: starting, and what it has taken after a load."""

from __future__ import annotations

from bench_server.asking import crowd
from bench_server.loads import BOTH, CLIENTS
from bench_server.metrics import Compare, Metric, at_most
from bench_server.process import Server
from bench_server.scenario import Scenario, Sizes, Values


async def start_up(server: Server, occasion: str, sizes: Sizes) -> Values:
    return {"time to healthy": server.started_s}


async def memory(server: Server, occasion: str, sizes: Sizes) -> Values:
    await crowd(server, occasion, CLIENTS, sizes.long // 2, sizes.answer)
    return {"resident memory": server.rss_mib()}


WHOLE = (
    Scenario(
        "start-up",
        (Metric("time to healthy", "s", Compare.DIFFERENCE, at_most(1.0)),),
        start_up,
        BOTH,
        fresh=True,
    ),
    Scenario(
        "memory",
        (Metric("resident memory", "MiB", Compare.DIFFERENCE, at_most(200)),),
        memory,
        BOTH,
        fresh=True,
    ),
)
