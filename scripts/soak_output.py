"""Pushes random pieces through the output chain of every family: nothing may raise, and cuts may not matter.

    python scripts/soak_output.py [--pieces 1000000] [--seed 0]

Prints what was read and exits with 1 at the first output that is read differently when it is cut differently.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import dataclass, field

from ferrox_gguf.events import ContentDelta, OutputEvent, ReasoningDelta, ToolCallArguments, ToolCallEnd, ToolCallStart
from ferrox_gguf.output.alphabet import marker_texts
from ferrox_gguf.output.chain import OutputChain
from ferrox_gguf.output.forms import syntaxes
from ferrox_gguf.output.pieces import End, Piece
from ferrox_gguf.posture.known import FAMILIES, Family
from ferrox_gguf.posture.values import BlockState, Posture
from ferrox_gguf.request import Tool

TOOLS = (
    Tool("get_weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}}),
    Tool("save", parameters={"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}}),
)
WORDS = [
    *" \n\t<>{}[]()\"'\\:,/=|;",
    "get_weather",
    "save",
    "functions.",
    "city",
    "path",
    "arguments",
    "parameters",
    '"name": ',
    '{"name": "get_weather", "arguments": {"city": "Rome"}}',
    '{"city": "Rome"}',
    "<tool_call>",
    "</tool_call>",
    "<function=get_weather>",
    "</function>",
    "assistant",
    "to=",
    "true",
    "null",
    "-1.5e3",
    "9" * 50,
    "x" * 300,
    "推理",
    "🦀",
    "\ud800",
    "\u2028",
]


@dataclass
class Joined:
    reasoning: str = ""
    content: str = ""
    calls: list[list[object]] = field(default_factory=list)

    def add(self, events: list[OutputEvent]) -> None:
        for event in events:
            if isinstance(event, ReasoningDelta):
                self.reasoning += event.text
            elif isinstance(event, ContentDelta):
                self.content += event.text
            elif isinstance(event, ToolCallStart):
                self.calls.append([event.name, event.id, "", None])
            elif isinstance(event, ToolCallArguments):
                self.calls[event.index][2] = f"{self.calls[event.index][2]}{event.fragment}"
            elif isinstance(event, ToolCallEnd):
                self.calls[event.index][3] = event.whole


def posture_of(row: Family) -> Posture:
    return Posture(
        reasoning=row.reasoning,
        tool_format=row.tool_format,
        calls_interrupt=row.calls_interrupt,
        string_stops=row.string_stops,
        family=row.name,
    )


def markers_of(posture: Posture) -> list[str]:
    format, markers = posture.reasoning, list(marker_texts(posture.reasoning))
    if format is not None:
        markers += [format.opener, format.closer, format.header, *(format.wrapper or ()), *format.tail]
    for syntax in syntaxes(posture):
        markers += syntax.triggers
    return [text for text in markers if text and not any("\udf00" <= char <= "\udfff" for char in text)]


def read(posture: Posture, state: BlockState, parts: list[str], end: End, tools: tuple[Tool, ...]) -> Joined:
    chain, joined = OutputChain(posture, state, tools=tools), Joined()
    for part in parts:
        joined.add(chain.push((Piece(part),)))
    joined.add(chain.flush(end))
    return joined


def recut(text: str, chance: random.Random) -> list[str]:
    parts, at = [], 0
    while at < len(text):
        size = chance.randint(1, 12)
        parts.append(text[at : at + size])
        at += size
    return parts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieces", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    chance = random.Random(args.seed)  # noqa: S311
    postures = [posture_of(row) for row in FAMILIES.values()]
    markers = {posture.family: markers_of(posture) for posture in postures}
    pieces = outputs = calls = 0
    start = time.monotonic()
    while pieces < args.pieces:
        posture = chance.choice(postures)
        known = markers[posture.family]
        parts = [
            chance.choice(known) if known and chance.random() < 0.4 else chance.choice(WORDS)
            for _ in range(chance.randint(0, 60))
        ]
        state, end = chance.choice(list(BlockState)), chance.choice(list(End))
        tools = TOOLS if chance.random() < 0.8 else ()
        streamed = read(posture, state, parts, end, tools)
        text = "".join(parts)
        for how, cut in (("whole", [text]), ("at random", recut(text, chance))):
            if read(posture, state, cut, end, tools) != streamed:
                print(f"{posture.family}, {state}, {end}, cut {how}, is read differently: {parts!r}", file=sys.stderr)
                return 1
        pieces += len(parts)
        outputs += 1
        calls += len(streamed.calls)
    spent = time.monotonic() - start
    print(f"{pieces:,} pieces in {outputs:,} outputs of {len(postures)} families, {calls:,} calls, {spent:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
