"""MiniMax-M3: parameters are elements named by their keys, nested to any depth, every tag behind a marker of its own.

Objects nest elements and arrays repeat them (`item`), typed by the schema at every depth. Where nothing is declared,
elements of one name in a row are an array: such a value waits for what comes behind it. Markup is looked for between
elements only; a text that quotes its own element is matched by depth.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ferrox_gguf.declared import Declared
from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.tool_calls.attributes import read_attributes, read_label
from ferrox_gguf.output.tool_calls.compact import MAX_DEPTH
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.enclosure import Enclosure
from ferrox_gguf.output.tool_calls.reading import Container, Out, Reading
from ferrox_gguf.output.tool_calls.tagged import finish_call
from ferrox_gguf.output.tool_calls.typed import TypedValue
from ferrox_gguf.output.tool_calls.value_text import ValueEnd, stream_text
from ferrox_gguf.output.tool_calls.writer import CallWriter

MARK = "]<]minimax[>["
SECTION_OPEN, SECTION_CLOSE = f"{MARK}<tool_call>", f"{MARK}</tool_call>"
INVOKE, INVOKE_END = f"{MARK}<invoke ", f"{MARK}</invoke>"
OPENING, CLOSING = f"{MARK}<", f"{MARK}</"
ENDS = (INVOKE_END, SECTION_CLOSE, INVOKE)

_KEY = re.compile(r"""[^\s<>/"'][^\s<>"']*""")


class MiniMaxM3:
    at_start = False
    triggers: Sequence[str] = (SECTION_OPEN,)

    def __init__(self) -> None:
        self._enclosure = Enclosure((SECTION_OPEN,), (SECTION_CLOSE,), begins=(INVOKE,))

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        return (yield from self._enclosure.read(text, calls, self._call))

    def _call(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        start = text.at
        attributes = yield from read_attributes(text, INVOKE.rstrip(), ">")
        if name := (attributes or {}).get("name"):
            yield from text.space()
            elements = _Elements(text, Reading(text, calls, name))
            if (yield from elements.stands()) or (yield from text.stands(ENDS)):
                reading = elements.reading
                reading.start()
                yield from elements.read(reading.arguments, reading.declared, depth=1)
                yield from finish_call(text, calls, reading, ENDS, (OPENING, CLOSING))
                return True
        text.back(start)
        return False


class _Elements:
    """The elements of one call. Its readers return whether what they read is complete (False: cut, or no markup)."""

    def __init__(self, text: Cursor, reading: Reading) -> None:
        self._text, self.reading = text, reading

    def stands(self) -> Steps[bool]:
        """Does an element's opening stand here, white space aside? Nothing is consumed."""
        start = self._text.at
        yield from self._text.space()
        found = yield from self._opening()
        self._text.back(start)
        return found is not None

    def read(
        self, out: Container, declared: Declared, depth: int, closer: str = "", array: bool = False
    ) -> Steps[bool]:
        """Read elements as the entries of `out`, up to `closer` (consumed) or what else ends them."""
        text = self._text
        run = _Run(out)
        while True:
            yield from text.space()
            key = yield from self._opening()
            if key is None:
                break
            if array:
                entry, type = out.entry(), declared.item()
            elif (type := declared.member(key)).types:
                run.end()
                entry = out.entry(key)
            else:
                entry = run.add(key)
            if not (yield from self._value(entry, type, key, depth)):
                return False
        if closer and (yield from text.take(closer)):
            self.reading.commit()
        elif not (yield from self._over()):
            run.end()
            return False
        elif text.end is End.CUT and ">" not in text.rest()[len(MARK) :]:
            return False  # no tag stands here whole
        run.end()
        return True

    def _over(self) -> Steps[bool]:
        """Are the elements over, by another's end, the next call, or the output's end?"""
        text = self._text
        if (yield from text.stands((CLOSING, INVOKE))):
            return True
        rest = text.rest()
        return text.end is not None and (rest.startswith(OPENING) or CLOSING.startswith(rest))

    def _opening(self) -> Steps[str | None]:
        """Consume an element's opening tag and return its key."""
        start = self._text.at
        key = yield from read_label(self._text, OPENING, ">")
        if key is not None and _KEY.fullmatch(key) and MARK not in key:
            return key
        self._text.back(start)
        return None

    def _value(self, out: Out, declared: Declared, key: str, depth: int) -> Steps[bool]:
        text, types = self._text, declared.types
        if types != {"string"} and depth < MAX_DEPTH:
            if (yield from self.stands()):
                return (yield from self._container(out, declared, key, depth))
            if types & {"object", "array"} and "string" not in types and (yield from self._empty(key)):
                out("{}" if "object" in types else "[]")
                return True
        value = TypedValue(declared)
        complete = yield from stream_text(
            text, _text_end(key), lambda piece: out(value.push(piece)), self.reading.commit
        )
        if complete:
            out(value.close())
        return complete

    def _empty(self, key: str) -> Steps[bool]:
        """Consume the element's end if nothing but white space stands before it."""
        start = self._text.at
        yield from self._text.space()
        if (yield from self._text.take(f"{CLOSING}{key}>")):
            return True
        self._text.back(start)
        return False

    def _container(self, out: Out, declared: Declared, key: str, depth: int) -> Steps[bool]:
        kinds = declared.types & {"object", "array"}
        if len(kinds) == 1:
            array = "array" in kinds
        else:
            array = yield from self._item_stands()
        container = Container(out, "[]" if array else "{}")
        container.open()
        complete = yield from self.read(container, declared, depth + 1, f"{CLOSING}{key}>", array)
        if complete:
            container.close()
        return complete

    def _item_stands(self) -> Steps[bool]:
        start = self._text.at
        yield from self._text.space()
        found = yield from self._text.stands((f"{OPENING}item>",))
        self._text.back(start)
        return found


class _Run:
    """Undeclared elements of one name in a row: one is a value, several are an array."""

    def __init__(self, out: Container) -> None:
        self._out = out
        self._key = ""
        self._values: list[list[str]] = []

    def add(self, key: str) -> Out:
        if key != self._key:
            self.end()
            self._key = key
        self._values.append([])
        return self._values[-1].append

    def end(self) -> None:
        """Another name follows, or nothing: the value is certain."""
        if self._values:
            values = ["".join(fragments) for fragments in self._values]
            self._out.entry(self._key)(values[0] if len(values) == 1 else f"[{','.join(values)}]")
        self._values = []


@lru_cache(maxsize=256)
def _text_end(key: str) -> ValueEnd:
    return ValueEnd(
        f"{CLOSING}{key}>",
        follow=(),
        outer=(INVOKE_END, SECTION_CLOSE),
        next_call=(SECTION_OPEN, INVOKE),
        nested=f"{OPENING}{key}>",
    )
