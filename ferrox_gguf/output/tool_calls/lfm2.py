"""`<|tool_call_start|>[NAME(KEY=VAL, …), …]<|tool_call_end|>`: LFM2 and 2.5, calls as Python writes them.

JSON's words are read beside Python's. The models also copy text between quotes without escaping it, so a quote ends a
string only where the syntax can go on behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.tool_calls.attributes import HEAD_LIMIT
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.literal import pass_cut_key, read_argument
from ferrox_gguf.output.tool_calls.reading import Reading
from ferrox_gguf.output.tool_calls.section import Elements, read_elements
from ferrox_gguf.output.tool_calls.tagged import finish_call
from ferrox_gguf.output.tool_calls.value_text import followed
from ferrox_gguf.output.tool_calls.writer import CallWriter

OPENER, CLOSER = "<|tool_call_start|>", "<|tool_call_end|>"

_QUOTES = ('"""', "'''", '"', "'")
_BEHIND_STRING = (",", ")", "]", "}", ":", CLOSER)
_ESCAPES = {
    "\\": "\\",
    "'": "'",
    '"': '"',
    "\n": "",
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "a": "\a",
    "v": "\v",
}
_NUMERIC = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})")
_NUMERIC_SIZE = {"x": 4, "u": 6, "U": 10}
_KEY = re.compile(r"\s*[^\W\d][\w-]*\s*")


class PythonNotation:
    brackets: Mapping[str, str] = {"{": "}", "[": "]", "(": ")"}
    end = CLOSER

    def string(self, text: Cursor, take: Callable[[str], None], commit: Callable[[], None]) -> Steps[bool | None]:
        quote = yield from text.take_any(_QUOTES)
        if quote is None:
            return None
        stops = re.compile(rf"\\|{quote}")
        while True:
            stop = stops.search(text.text, text.at)
            upto = stop.start() if stop else len(text.text) - _partial(text.text, text.at, quote)
            take(text.text[text.at : upto])
            text.at = upto
            commit()
            if stop is not None and stop.group() == quote:
                if (yield from followed(text, text.at + len(quote), _BEHIND_STRING)):
                    text.at += len(quote)
                    return True
                take(quote[0])
                text.at += 1
            elif stop is not None:
                escaped = yield from _escape(text)
                if escaped is None:
                    return False
                take(escaped)
            elif text.end is not None:
                text.at = len(text.text)
                return False
            else:
                yield


def _partial(text: str, at: int, quote: str) -> int:
    """Characters at the end that may be the first of a longer quote."""
    if len(quote) == 1:
        return 0
    return 2 if text.endswith(quote[:2], at) else 1 if text.endswith(quote[0], at) else 0


def _escape(text: Cursor) -> Steps[str | None]:
    """Consume an escape and return its character, or itself if Python has none such; None: it was cut."""
    while len(text.text) - text.at < _NUMERIC_SIZE.get(text.text[text.at + 1 : text.at + 2], 2):
        if text.end is End.CUT:
            text.at = len(text.text)
            return None
        if text.end is End.DONE:
            break
        yield
    if numeric := _NUMERIC.match(text.text, text.at):
        text.at = numeric.end()
        return chr(int(numeric.group()[2:], 16))
    pair = text.text[text.at : text.at + 2]
    text.at += len(pair)
    return _ESCAPES.get(pair[1:], pair)


class Lfm2:
    at_start = False
    triggers: Sequence[str] = (OPENER,)

    def __init__(self) -> None:
        self._notation = PythonNotation()

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        yield from text.take(OPENER)
        yield from text.space()
        yield from text.take("[")
        elements = Elements(
            read=lambda: self._call(text, calls, offered=True),
            skip=lambda: self._call(text, calls, offered=False),
            begins="",
            separators=(",",),
            endings=(("]",), (CLOSER,)),
        )
        return (yield from read_elements(text, calls, elements))

    def _call(self, text: Cursor, calls: CallWriter, *, offered: bool) -> Steps[bool]:
        """Read a call; offered: only one of an offered tool."""
        name = yield from text.until(("(", ",", "]", "\n", "<"), limit=HEAD_LIMIT)
        if name is None or not name.strip() or not (yield from text.take("(")):
            return False
        reading = Reading(text, calls, name.strip())
        if (reading.tool is not None) is not offered:
            return False
        yield from text.space()
        closed = yield from text.take(")")
        key = None if closed else (yield from self._key(text))
        if not closed and key is None:
            return False
        reading.start()
        while key is not None:
            out = reading.arguments.entry(key)
            if not (yield from read_argument(text, reading, out, self._notation, (",", ")", "]", CLOSER))):
                break
            yield from text.space()
            yield from text.take(",")
            key = yield from self._key(text)
        if closed or (yield from text.take(")")) or (yield from text.stands(("]",))):
            reading.finish(whole=True)
        else:
            pass_cut_key(text)
            yield from finish_call(text, calls, reading, (CLOSER,), ("]",))
        return True

    def _key(self, text: Cursor) -> Steps[str | None]:
        start = text.at
        key = yield from text.until(("=", ",", ")", "]", "'", '"'), limit=HEAD_LIMIT)
        if key is not None and _KEY.fullmatch(key) and (yield from text.take("=")):
            return key.strip()
        text.back(start)
        yield from text.space()
        return None
