"""Arguments written as one tagged element a parameter: what all tagged syntaxes share.

A syntax says how its markers look (`Form`) and how a parameter's opening reads (`Form.head`); here the values stream
into the call's compact JSON. `section.py` reads what stands around calls, `value_text.py` where a value ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ferrox_gguf.declared import UNDECLARED, Declared
from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.tool_calls.arguments import verbatim
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.reading import Reading
from ferrox_gguf.output.tool_calls.typed import TypedValue
from ferrox_gguf.output.tool_calls.value_text import ValueEnd, stream_text
from ferrox_gguf.output.tool_calls.writer import CallWriter

CDATA_OPEN, CDATA_CLOSE = "<![CDATA[", "]]>"


@dataclass(frozen=True, slots=True)
class Head:
    """A parameter's opening. wire: the type that the markup insists on; fallback: what holds if nothing is declared."""

    key: str
    wire: Declared | None = None
    fallback: Declared = UNDECLARED

    def type(self, arguments: Declared) -> Declared:
        if self.wire is not None:
            return self.wire
        declared = arguments.member(self.key)
        return declared if declared.types else self.fallback


@dataclass(frozen=True)
class Form:
    """How a syntax writes a call's arguments.

    head: reads a parameter's opening; None where none stands whole.  openers: what it begins with.
    close: the end of a value.  end: the call's own end.  outer: what else ends the call (the
    section's end).  next_call: how another call begins, which ends one as well.  goes_on: what surely is another call,
    so that it also ends a value whose own end was forgotten, if the call's end stands before it.
    layout, cdata: one line break on either side of a value, or a CDATA section around it, is markup.
    doubtful: it is not known whether values have that layout; one that begins with no line break has none.
    """

    head: Callable[[Cursor], Steps[Head | None]]
    openers: tuple[str, ...]
    close: str
    end: str
    outer: tuple[str, ...] = ()
    next_call: tuple[str, ...] = ()
    goes_on: tuple[str, ...] = ()
    layout: bool = False
    cdata: bool = False
    doubtful: bool = False

    @cached_property
    def ends(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.end, *self.outer, *self.next_call)))

    @cached_property
    def value_end(self) -> ValueEnd:
        outer = tuple(marker for marker in self.ends if marker not in self.next_call)
        return ValueEnd(self.close, (*self.openers, *self.ends), outer, self.goes_on, layout=self.layout)

    @cached_property
    def bare_value_end(self) -> ValueEnd:
        return replace(self.value_end, layout=False)

    @cached_property
    def cdata_end(self) -> ValueEnd:
        return ValueEnd(CDATA_CLOSE, (self.close, CDATA_OPEN))


def read_call(text: Cursor, calls: CallWriter, name: str, form: Form) -> Steps[bool]:
    """Read a call from behind its name to behind its end. False: there is none, and nothing was decided."""
    reading = Reading(text, calls, name)
    yield from text.space()
    head = yield from form.head(text)
    if head is None and not (yield from text.stands(form.ends)):
        return False
    reading.start()
    while head is not None:
        if not (yield from _read_member(text, reading, head, form)):
            reading.finish(whole=False)
            return True
        yield from text.space()
        head = yield from form.head(text)
    yield from finish_call(text, calls, reading, form.ends, (form.close, *form.openers))
    return True


def _read_member(text: Cursor, reading: Reading, head: Head, form: Form) -> Steps[bool]:
    """Stream the parameter whose value comes next; False: the output was cut inside."""
    value = TypedValue(head.type(reading.declared))
    out = reading.arguments.entry(head.key)
    complete = yield from _stream_value(text, reading, form, lambda piece: out(value.push(piece)))
    if complete:
        out(value.close())
    return complete


def _stream_value(text: Cursor, reading: Reading, form: Form, take: Callable[[str], None]) -> Steps[bool]:
    if not (form.cdata and (yield from text.take(CDATA_OPEN))):
        doubtful = form.doubtful and not (yield from text.stands(("\n",)))
        end = form.bare_value_end if doubtful else form.value_end
        return (yield from stream_text(text, end, take, reading.commit))
    while (yield from stream_text(text, form.cdata_end, take, reading.commit)):
        yield from text.space()
        if (yield from text.take(form.close)):
            return True
        if not (yield from text.take(CDATA_OPEN)):
            return text.end is not End.CUT
    return False


def finish_call(
    text: Cursor, calls: CallWriter, reading: Reading, ends: Sequence[str], inner: Sequence[str]
) -> Steps[None]:
    """Behind the last parameter: the call's end, another marker that ends it, or the output's end.

    ends: the call's own end first, the only one that is consumed.  inner: markers of which the output may have cut one.
    """
    yield from text.space()
    found = yield from text.take_any(ends)
    if found is not None:
        if found != ends[0]:
            text.at -= len(found)
        reading.finish(whole=True)
        return
    rest = text.rest()
    if text.end is not None and any(marker.startswith(rest) or rest.startswith(marker) for marker in (*ends, *inner)):
        text.at = len(text.text)
        reading.finish(whole=text.end is End.DONE)
    elif reading.tool is None:
        reading.finish(whole=False)
    else:
        whole = yield from verbatim(text, calls, ends)
        yield from text.take(ends[0])
        reading.finish(whole, closed=True)
