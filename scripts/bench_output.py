"""Measures the output chain: pieces a second through all of it, and that a long thought costs no more per token.

    python scripts/bench_output.py

One core, process time, the best of several rounds. Exit status 1 when the project's bounds are missed.
"""

from __future__ import annotations

import sys
import time
from itertools import cycle, islice

from ferrox_gguf.output.chain import OutputChain
from ferrox_gguf.output.pieces import End, Piece, TokenKind
from ferrox_gguf.posture.known import FAMILIES
from ferrox_gguf.posture.values import Posture
from ferrox_gguf.request import Tool

PIECES_A_SECOND = 200_000
GROWTH = 1.3
SHORT, LONG = 2_000, 200_000
ROUNDS = 5

WORDS = ("The", " quick", " brown", " fox", ",", " jumps", "\n", " over", " <", " lazy", " dogs", ".")
MARKERS = {"<think>": 0, "</think>": 1}
WEATHER = Tool("get_weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}})


def words(count: int) -> list[Piece]:
    pieces = [Piece(text, TokenKind.NORMAL, 100 + i) for i, text in enumerate(WORDS)]
    return list(islice(cycle(pieces), count))


def thought(count: int) -> list[Piece]:
    opener, closer = (Piece(text, TokenKind.CONTROL, token) for text, token in MARKERS.items())
    return [opener, *words(count), closer]


def call(count: int) -> list[Piece]:
    """One call with a long string argument."""
    head = Piece('<tool_call>{"name": "get_weather", "arguments": {"city": "', TokenKind.NORMAL, 50)
    return [head, *(piece for piece in words(count) if piece.text != "\n")]


def seconds(pieces: list[Piece]) -> float:
    """One piece a push, as a server does."""
    row = FAMILIES["qwen3"]
    posture = Posture(reasoning=row.reasoning, tool_format=row.tool_format)
    chain = OutputChain(posture, tools=[WEATHER], marker_tokens=MARKERS)
    push = chain.push
    start = time.process_time()
    for piece in pieces:
        push((piece,))
    chain.flush(End.CUT)
    return time.process_time() - start


def rate(pieces: list[Piece]) -> float:
    repeats = max(1, 40_000 // len(pieces))
    return max(repeats * len(pieces) / sum(seconds(pieces) for _ in range(repeats)) for _ in range(ROUNDS))


def main() -> int:
    rates = {
        f"thought of {SHORT:,} tokens": rate(thought(SHORT)),
        f"thought of {LONG:,} tokens": rate(thought(LONG)),
        f"answer of {LONG:,} tokens": rate(words(LONG)),
    }
    for name, value in [*rates.items(), (f"call of {LONG:,} tokens", rate(call(LONG)))]:
        print(f"{name:28} {value:12,.0f} pieces/s")
    short, long = list(rates.values())[:2]
    print(f"{'growth per token':28} {short / long:12.2f} (at most {GROWTH})")
    slow = [name for name, value in rates.items() if value < PIECES_A_SECOND]
    for name in slow:
        print(f"below {PIECES_A_SECOND:,} pieces/s: {name}", file=sys.stderr)
    return 1 if slow or short / long > GROWTH else 0


if __name__ == "__main__":
    sys.exit(main())
