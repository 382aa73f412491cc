"""A client that costs the machine almost nothing, since the servers under test have the same two cores.

While an answer comes it only notes when each piece of it arrived; HTTP and JSON are read after the end.
"""

from __future__ import annotations

import asyncio
import json
import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

TIMEOUT_S = 600.0

Segment = tuple[float, bytes]
"""What one read of the socket brought, and when (seconds on a monotonic clock)."""


class BadAnswer(Exception):
    """The server refused, or sent something that is no answer. Carries its words."""


@dataclass(frozen=True)
class Answer:
    """One streamed answer. began: when the request was sent.  arrivals: of each frame that brought text.

    tokens, prompt_read, cached: as the server counts them; where it does not, tokens are the frames with text.
    """

    began: float
    arrivals: tuple[float, ...]
    text: str
    tokens: int
    prompt_read: int = 0
    cached: int = 0
    finish: str = ""

    @property
    def first(self) -> float:
        """Seconds to the first text."""
        return self.arrivals[0] - self.began

    @property
    def gaps(self) -> list[float]:
        return [later - earlier for earlier, later in pairwise(self.arrivals)]


class Recorder(asyncio.Protocol):
    """Sends one request and keeps the segments of the response until the server closes."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self.segments: list[Segment] = []
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.began = time.monotonic()
        transport.write(self._request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self.segments.append((time.monotonic(), data))

    def connection_lost(self, error: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)


def http_request(path: str, body: dict) -> bytes:
    payload = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(payload)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + payload


async def stream(port: int, path: str, body: dict) -> Answer:
    """One streamed request from beginning to end. Raises BadAnswer."""
    loop = asyncio.get_running_loop()
    request = http_request(path, {**body, "stream": True})
    transport, recorder = await loop.create_connection(lambda: Recorder(request), "127.0.0.1", port)
    try:
        await asyncio.wait_for(recorder.closed, TIMEOUT_S)
    finally:
        transport.close()
    return read_answer(recorder.began, recorder.segments)


@dataclass
class Reading:
    """An answer while its frames are read."""

    arrivals: list[float] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    timings: dict = field(default_factory=dict)
    usage: dict = field(default_factory=dict)
    finish: str = ""

    def take(self, at: float, frame: dict) -> None:
        if "error" in frame:
            raise BadAnswer(json.dumps(frame["error"]))
        self.timings = frame.get("timings") or self.timings
        self.usage = frame.get("usage") or self.usage
        for choice in frame.get("choices", ()):
            self.finish = choice.get("finish_reason") or self.finish
            delta = choice.get("delta", {})
            if text := delta.get("content") or delta.get("reasoning_content"):
                self.arrivals.append(at)
                self.texts.append(text)


def read_answer(began: float, segments: Sequence[Segment]) -> Answer:
    """What the segments of one HTTP response with server-sent events say. Raises BadAnswer."""
    head, body = split_head(segments)
    status, chunked = read_head(head)
    if chunked:
        body = dechunked(body)
    whole = b"".join(data for _, data in body)
    if status != 200:
        raise BadAnswer(f"status {status}: {whole.decode(errors='replace')}")
    ends = list(accumulate(len(data) for _, data in body))
    reading, start = Reading(), 0
    while (end := whole.find(b"\n\n", start)) >= 0:
        frame = whole[start:end].strip()
        if frame.startswith(b"data: {"):
            reading.take(body[bisect_left(ends, end + 2)][0], json.loads(frame[6:]))
        start = end + 2
    if not reading.arrivals:
        raise BadAnswer(f"no text in {whole[:400]!r}")
    timings, usage = reading.timings, reading.usage
    return Answer(
        began,
        tuple(reading.arrivals),
        "".join(reading.texts),
        timings.get("predicted_n") or usage.get("completion_tokens") or len(reading.arrivals),
        timings.get("prompt_n") or 0,
        timings.get("cache_n") or 0,
        reading.finish,
    )


def split_head(segments: Sequence[Segment]) -> tuple[bytes, list[Segment]]:
    """The header block, and the segments after it."""
    seen = b""
    for index, (at, data) in enumerate(segments):
        seen += data
        if (end := seen.find(b"\r\n\r\n")) >= 0:
            return seen[:end], [(at, seen[end + 4 :]), *segments[index + 1 :]]
    raise BadAnswer(f"no HTTP response: {seen[:200]!r}")


def read_head(head: bytes) -> tuple[int, bool]:
    """The status, and whether the body comes in chunks."""
    status, *headers = head.decode("latin-1").split("\r\n")
    chunked = any(line.lower().replace(" ", "") == "transfer-encoding:chunked" for line in headers)
    return int(status.split()[1]), chunked


def dechunked(segments: Sequence[Segment]) -> list[Segment]:
    """The payload of each HTTP chunk, with the time at which its last byte came."""
    whole = b"".join(data for _, data in segments)
    ends = list(accumulate(len(data) for _, data in segments))
    payloads: list[Segment] = []
    at = 0
    while (line := whole.find(b"\r\n", at)) >= 0:
        size = int(whole[at:line].split(b";")[0], 16)
        start, at = line + 2, line + 2 + size + 2
        if size == 0 or at > len(whole):
            break
        payloads.append((segments[bisect_left(ends, start + size)][0], whole[start : start + size]))
    return payloads
