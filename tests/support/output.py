"""Reads model output through the whole chain, as tests want to say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ferrox_gguf.events import (
    ContentDelta,
    OutputEvent,
    ReasoningDelta,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)
from ferrox_gguf.output.chain import OutputChain
from ferrox_gguf.output.pieces import End, Piece, TokenKind
from ferrox_gguf.posture.known import FAMILIES, REASONING
from ferrox_gguf.posture.values import BlockState, Posture
from ferrox_gguf.request import Tool

OPEN, CLOSED, UNOPENED = BlockState.OPEN, BlockState.CLOSED, BlockState.UNOPENED
WEATHER = Tool("get_weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}})
SAVE = Tool(
    "save",
    parameters={"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}},
)


@dataclass
class Call:
    name: str
    arguments: str = ""
    id: str | None = None
    whole: bool | None = None


@dataclass
class Output:
    reasoning: str = ""
    content: str = ""
    calls: list[Call] = field(default_factory=list)


def joined(events: Sequence[OutputEvent]) -> Output:
    """The events as a non-streamed answer would show them. Their order and numbering are checked on the way."""
    out = Output()
    for event in events:
        if isinstance(event, ReasoningDelta):
            assert event.text
            out.reasoning += event.text
        elif isinstance(event, ContentDelta):
            assert event.text
            out.content += event.text
        elif isinstance(event, ToolCallStart):
            assert event.index == len(out.calls)
            out.calls.append(Call(event.name, id=event.id))
        elif isinstance(event, ToolCallArguments):
            assert event.fragment
            assert out.calls[event.index].whole is None
            out.calls[event.index].arguments += event.fragment
        elif isinstance(event, ToolCallEnd):
            assert out.calls[event.index].whole is None
            out.calls[event.index].whole = event.whole
    return out


def family(name: str) -> Posture:
    row = FAMILIES[name]
    return Posture(
        reasoning=row.reasoning,
        tool_format=row.tool_format,
        calls_interrupt=row.calls_interrupt,
        string_stops=row.string_stops,
        family=name,
    )


def thinking(name: str) -> Posture:
    """A model of which only the reasoning format is known."""
    return Posture(reasoning=REASONING[name])


def pieces(texts: str | Sequence[str]) -> list[Piece]:
    return [Piece(text) for text in ([texts] if isinstance(texts, str) else texts)]


def tokens(texts: Sequence[str], markers: Sequence[str], kind: TokenKind = TokenKind.CONTROL) -> list[Piece]:
    """Pieces of a vocabulary in which `markers` are tokens of their own; their ids are their places in it."""
    places = list(markers)
    return [
        Piece(text, kind, places.index(text)) if text in places else Piece(text, TokenKind.NORMAL, 1000 + i)
        for i, text in enumerate(texts)
    ]


def ids(markers: Sequence[str]) -> dict[str, int]:
    return {text: place for place, text in enumerate(markers)}


def feed(chain: OutputChain, parts: Sequence[Piece], end: End = End.DONE) -> list[OutputEvent]:
    """One piece a push, as a server does."""
    events = [event for part in parts for event in chain.push([part])]
    return events + chain.flush(end)


def read(
    posture: Posture, text: str | Sequence[str], state: BlockState = UNOPENED, end: End = End.DONE, **options
) -> Output:
    return joined(feed(OutputChain(posture, state, **options), pieces(text), end))


def counted(
    posture: Posture,
    parts: str | Sequence[str] | Sequence[Piece],
    state: BlockState = UNOPENED,
    end: End = End.DONE,
    **options,
) -> int | None:
    chain = OutputChain(posture, state, **options)
    given = [part if isinstance(part, Piece) else Piece(part) for part in parts]
    feed(chain, given, end)
    return chain.reasoning_tokens
