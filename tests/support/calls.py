"""Reads calls out of text through the splitter alone, as tests want to say it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ferrox_gguf.events import ContentDelta, OutputEvent, ToolCallArguments, ToolCallEnd, ToolCallStart
from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.tool_calls import SYNTAXES, Syntax, ToolCallSplitter
from ferrox_gguf.request import Tool

PING, BOOK = Tool("ping"), Tool("book_table")
DONE, CUT = End.DONE, End.CUT
ROME = '{"city": "Rome", "seats": 2}'
ROME_COMPACT = '{"city":"Rome","seats":2}'


@dataclass(frozen=True)
class Call:
    name: str
    arguments: str = "{}"
    id: str | None = None
    whole: bool = True


@dataclass(frozen=True)
class Said:
    content: str = ""
    calls: tuple[Call, ...] = ()


def splitter(form: str | Syntax, tools: Sequence[Tool] = (PING, BOOK)) -> ToolCallSplitter:
    """The form first, then Hermes, as in a served model."""
    native = SYNTAXES[form]() if isinstance(form, str) else form
    return ToolCallSplitter([native, SYNTAXES["qwen25"]()], tools)


def fed(machine: ToolCallSplitter, pieces: Iterable[str], end: End = DONE) -> Said:
    events = [event for piece in pieces for event in machine.push(piece)]
    return joined([*events, *machine.flush(end)])


def joined(events: Sequence[OutputEvent]) -> Said:
    content: list[str] = []
    calls: list[Call] = []
    for event in events:
        if isinstance(event, ContentDelta):
            assert event.text, "an empty delta"
            content.append(event.text)
        elif isinstance(event, ToolCallStart):
            assert event.index == len(calls)
            calls.append(Call(event.name, "", event.id, whole=False))
        elif isinstance(event, ToolCallArguments):
            assert event.fragment, "an empty fragment"
            last = calls[event.index]
            calls[event.index] = Call(last.name, last.arguments + event.fragment, last.id, last.whole)
        elif isinstance(event, ToolCallEnd):
            last = calls[event.index]
            calls[event.index] = Call(last.name, last.arguments, last.id, event.whole)
    return Said("".join(content), tuple(calls))


def pieces(text: str, cuts: Iterable[int]) -> list[str]:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:end] for start, end in pairwise(places)]


def said(form: str | Syntax, text: str, *, tools: Sequence[Tool] = (PING, BOOK), end: End = DONE) -> Said:
    """What `text` says, and that it says the same when it comes character by character, or in threes."""
    whole = fed(splitter(form, tools), [text], end)
    assert fed(splitter(form, tools), text, end) == whole
    assert fed(splitter(form, tools), pieces(text, range(0, len(text), 3)), end) == whole
    return whole
