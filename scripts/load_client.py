#!/usr/bin/env python3
"""Show that N clients stream at the same time, not one after another.

usage: load_client.py [--url http://127.0.0.1:8080] [--clients 8] [--tokens 128] [--api-key KEY]

Each client asks for one streamed chat answer; all start together. A row is a client, a column a slice of time, and a
mark says that tokens arrived in it. Below: when the first tokens came, and for how much of the time in which anybody
was streaming all of them were. Exit status 1 when that is less than half. Standard library only.
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import sys
import threading
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

COLUMNS = 72
TOPICS = ("the sea", "a tin of paint", "Rome", "sleep", "a bridge", "the number nine", "moss", "a small dog")


@dataclass
class Stream:
    """One client's answer. arrivals: seconds after the common start, one a piece of text."""

    number: int
    arrivals: list[float] = field(default_factory=list)
    error: str = ""


def main() -> int:
    options = arguments()
    streams = [Stream(number) for number in range(options.clients)]
    barrier = threading.Barrier(options.clients)
    threads = [threading.Thread(target=stream, args=(one, options, barrier)) for one in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    failed = [one for one in streams if one.error or len(one.arrivals) < 2]
    for one in failed:
        print(f"client {one.number}: {one.error or 'no tokens'}", file=sys.stderr)
    if failed:
        return 1
    print(picture(streams))
    overlap = shared_time(streams)
    print(f"\n{report(streams)}\nall {len(streams)} were streaming for {overlap:.0%} of the time")
    return 0 if overlap > 0.5 else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="http://127.0.0.1:8080")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--api-key", default="")
    return parser.parse_args()


def stream(one: Stream, options: argparse.Namespace, barrier: threading.Barrier) -> None:
    """Fill in one client's arrivals. The clock starts when all clients are connected."""
    address = urlsplit(options.url)
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    connection = kind(address.netloc, timeout=600)
    body = {
        "messages": [{"role": "user", "content": f"Write a long story about {TOPICS[one.number % len(TOPICS)]}."}],
        "max_tokens": options.tokens,
        "ignore_eos": True,
        "stream": True,
    }
    headers = {"Content-Type": "application/json"}
    if options.api_key:
        headers["Authorization"] = f"Bearer {options.api_key}"
    try:
        connection.connect()
        barrier.wait()
        began = time.monotonic()
        connection.request("POST", f"{address.path}/v1/chat/completions", json.dumps(body), headers)
        response = connection.getresponse()
        if response.status != http.client.OK:
            one.error = f"status {response.status}: {response.read().decode()}"
            return
        for line in response:
            if line.startswith(b"data: {") and text_of(json.loads(line[6:])):
                one.arrivals.append(time.monotonic() - began)
    except (OSError, threading.BrokenBarrierError, http.client.HTTPException) as error:
        one.error = str(error) or type(error).__name__
        barrier.abort()
    finally:
        connection.close()


def text_of(chunk: dict) -> str:
    """New text of a chunk, thought or answer."""
    delta = chunk["choices"][0]["delta"] if chunk.get("choices") else {}
    return delta.get("content") or delta.get("reasoning_content") or ""


def picture(streams: list[Stream]) -> str:
    """A row a client."""
    slice_seconds = max(one.arrivals[-1] for one in streams) / COLUMNS
    rows = []
    for one in streams:
        hit = {min(COLUMNS - 1, int(at / slice_seconds)) for at in one.arrivals}
        rows.append(f"{one.number:3} " + "".join("#" if column in hit else "." for column in range(COLUMNS)))
    return "\n".join(rows)


def report(streams: list[Stream]) -> str:
    pieces = sum(len(one.arrivals) for one in streams)
    took = max(one.arrivals[-1] for one in streams)
    first = [one.arrivals[0] for one in streams]
    return (
        f"{pieces} pieces of text in {took:.2f} s, {pieces / took:.0f} a second; "
        f"first token after {statistics.median(first):.2f} s (median), {max(first):.2f} s (last)"
    )


def shared_time(streams: list[Stream]) -> float:
    """Of the time in which at least one stream had begun and not all had ended: the part in which all ran."""
    first, last = [one.arrivals[0] for one in streams], [one.arrivals[-1] for one in streams]
    return max(0.0, min(last) - max(first)) / (max(last) - min(first))


if __name__ == "__main__":
    sys.exit(main())
