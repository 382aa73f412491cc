"""Arguments written as literals that are not JSON: Python's, Gemma's.

A string at the top of an argument streams; everything else is sent when it is complete. The literal decides the type,
not the schema. What is no literal is text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.tool_calls.compact import MAX_DEPTH
from ferrox_gguf.output.tool_calls.cursor import SPACE, Cursor, Steps
from ferrox_gguf.output.tool_calls.reading import Out, Reading
from ferrox_gguf.output.tool_calls.typed import quoted

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_KEY = re.compile(r"[\w.$-]*\s*")
_WORDS = {
    "true": "true",
    "True": "true",
    "false": "false",
    "False": "false",
    "null": "null",
    "None": "null",
}


class Notation(Protocol):
    """How literals are written.

    brackets: opening → closing, of the containers.  end: the marker behind the arguments.
    string: reads a string where one begins; None: there is none, False: the output ended inside. `take` is given its
    text, `commit` called behind it, as in `value_text.stream_text`.
    """

    @property
    def brackets(self) -> Mapping[str, str]: ...
    @property
    def end(self) -> str: ...
    def string(self, text: Cursor, take: Callable[[str], None], commit: Callable[[], None]) -> Steps[bool | None]: ...


def read_argument(text: Cursor, reading: Reading, out: Out, notation: Notation, stops: Sequence[str]) -> Steps[bool]:
    """Read the literal at the cursor into `out`. stops: what ends a bare word.  False: the output was cut inside."""
    yield from text.space()
    begun = False

    def take(piece: str) -> None:
        nonlocal begun
        if piece:
            out(quoted(piece) if begun else '"' + quoted(piece))
            begun = True

    closed = yield from notation.string(text, take, reading.commit)
    if closed is not None:
        if closed or text.end is End.DONE:
            out('"' if begun else '""')
            return True
        return False
    value: str | None = None
    if text.text[text.at : text.at + 1] in notation.brackets:
        start = text.at
        value = yield from _Container(text, notation).read()
        if value is None and text.end is not End.CUT:
            text.back(start)
            value = yield from _as_text(text, notation)
    else:
        value = yield from _word(text, stops)
    if value is None:
        text.at = len(text.text)
    else:
        out(value)
    reading.commit()
    return value is not None


def pass_cut_key(text: Cursor) -> None:
    """Consume a bare key in whose middle the output ended: markup that was begun."""
    if text.end is not None and _KEY.fullmatch(text.text, text.at):
        text.at = len(text.text)


def _word(text: Cursor, stops: Sequence[str]) -> Steps[str | None]:
    """A number or word up to one of `stops` as JSON; None: the output was cut inside."""
    word = yield from text.until(stops)
    if word is None:
        if text.end is End.CUT:
            return None
        word = text.rest()
        text.at = len(text.text)
    word = word.strip(SPACE)
    if (known := _WORDS.get(word)) is not None:
        return known
    return word if _NUMBER.fullmatch(word) else f'"{quoted(word)}"'


def _as_text(text: Cursor, notation: Notation) -> Steps[str | None]:
    """What was no literal, up to the end of the arguments, as a string."""
    whole = yield from text.until((notation.end,))
    if whole is None:
        if text.end is End.CUT:
            return None
        whole = text.rest()
        text.at = len(text.text)
    return f'"{quoted(whole)}"'


class _Container:
    """The object or list at the cursor. read() returns it as compact JSON; None: it is none, too deep, or cut."""

    def __init__(self, text: Cursor, notation: Notation) -> None:
        self._text, self._notation = text, notation
        self._stops = (",", *notation.brackets.values(), notation.end)
        self._out: list[str] = []
        self._open: list[str] = []  # closing brackets to come
        self._filled: list[bool] = []
        self._complete = False  # the entry at the cursor: a comma or the end comes next

    def read(self) -> Steps[str | None]:
        text = self._text
        self._begin("")
        while self._open:
            yield from text.space()
            if not (yield from text.more()):
                return self._ended()
            if (yield from text.take(self._open[-1])):
                self._close()
            elif self._complete:
                if not (yield from text.take(",")):
                    return None
                self._complete = False
            elif not (yield from self._entry()):
                return self._ended() if text.at == len(text.text) else None
        return "".join(self._out)

    def _entry(self) -> Steps[bool]:
        """Read an entry up to its end, or to behind the bracket that opens it."""
        text, lead = self._text, "," if self._filled[-1] else ""
        if self._open[-1] == "}":
            key = yield from self._key()
            if key is None or not (yield from text.more()):
                return False
            lead += f'"{quoted(key)}":'
        if text.text[text.at] in self._notation.brackets:
            if len(self._open) >= MAX_DEPTH:
                return False
            self._begin(lead)
            return True
        value = yield from self._scalar()
        if value is None:
            return False
        self._out.append(lead + value)
        self._filled[-1] = self._complete = True
        return True

    def _scalar(self) -> Steps[str | None]:
        pieces: list[str] = []
        closed = yield from self._notation.string(self._text, pieces.append, _decide_nothing)
        if closed is None:
            return (yield from _word(self._text, self._stops))
        return f'"{quoted("".join(pieces))}"' if closed or self._text.end is End.DONE else None

    def _key(self) -> Steps[str | None]:
        text, pieces = self._text, list[str]()
        quotes = yield from self._notation.string(text, pieces.append, _decide_nothing)
        if quotes is None:
            bare = yield from text.until((":", *self._stops))
            pieces = [(bare or "").strip(SPACE)]
        yield from text.space()
        if quotes is False or not (yield from text.take(":")):
            return None
        yield from text.space()
        return "".join(pieces)

    def _begin(self, lead: str) -> None:
        closer = self._notation.brackets[self._text.text[self._text.at]]
        self._text.at += 1
        if self._filled:
            self._filled[-1] = True
        self._out.append(lead + ("{" if closer == "}" else "["))
        self._open.append(closer)
        self._filled.append(False)
        self._complete = False

    def _close(self) -> None:
        self._out.append("}" if self._open.pop() == "}" else "]")
        self._filled.pop()
        self._complete = True

    def _ended(self) -> str | None:
        """The output is over: what is open is closed, unless it was cut."""
        if self._text.end is not End.DONE:
            return None
        while self._open:
            self._close()
        return "".join(self._out)


def _decide_nothing() -> None:
    """What a container's strings commit: the whole may yet turn out to be text."""
