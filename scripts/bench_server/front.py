"""How many token events a second the HTTP layer carries: 64 streams over a script (front_server.py), no model."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from bench_server.client import TIMEOUT_S, BadAnswer, http_request
from bench_server.metrics import Compare, Metric, at_least
from bench_server.process import Peer, Server
from bench_server.prompts import user
from bench_server.scenario import Scenario, Sizes, Values

STREAMS = 64
EVENT = b"data: {"
TOOL = {
    "type": "function",
    "function": {"name": "lookup", "parameters": {"type": "object", "properties": {"word": {"type": "string"}}}},
}


class Counter(asyncio.Protocol):
    """Counts the events of one stream and keeps nothing but the last bytes."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._tail = b""
        self.events = 0
        self.first = self.last = 0.0
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.write(self._request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self.last = time.monotonic()
        self.first = self.first or self.last
        # An event's mark may be cut: what was seen of it before is one byte short of being counted twice.
        self.events += (self._tail[1 - len(EVENT) :] + data).count(EVENT)
        self._tail = (self._tail + data)[-64:]

    def connection_lost(self, error: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)

    @property
    def whole(self) -> bool:
        return b"data: [DONE]" in self._tail


async def measure(server: Server, occasion: str, sizes: Sizes) -> Values:
    body = {"messages": [user(occasion)], "max_tokens": sizes.events, "stream": True, "tools": [TOOL]}
    request = http_request("/v1/chat/completions", body)
    loop = asyncio.get_running_loop()
    opened = [loop.create_connection(lambda: Counter(request), "127.0.0.1", server.port) for _ in range(STREAMS)]
    counters = [counter for _, counter in await asyncio.gather(*opened)]
    await asyncio.wait_for(asyncio.gather(*[counter.closed for counter in counters]), TIMEOUT_S)
    if cut := [counter for counter in counters if not counter.whole]:
        raise BadAnswer(f"{len(cut)} of {STREAMS} streams did not end well: {cut[0]._tail!r}")
    events = sum(counter.events for counter in counters)
    if events < STREAMS * (sizes.events - 10):
        raise BadAnswer(f"{events} events for {STREAMS * sizes.events} tokens: frames were merged")
    span = max(counter.last for counter in counters) - min(counter.first for counter in counters)
    return {"token events a second": events / span}


def subject() -> Peer:
    return Peer("scripted engine", (sys.executable, str(Path(__file__).with_name("front_server.py"))))


FRONT = Scenario(
    "front",
    (Metric("token events a second", "1/s", Compare.OWN, at_least(25_000)),),
    measure,
    peers=(),
    subject=subject,
    model=None,
)
