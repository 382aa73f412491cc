"""Calls whose payload is JSON: `{"name": NAME, "arguments": {…}}` in all the shapes that families give it.

A syntax reads its own markers and hands the object to `read_call`; `arguments.py` streams what the object holds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ferrox_gguf.output.tool_calls.arguments import (
    as_object,
    read_arguments,
    read_value,
    stream_arguments,
    stream_call,
    verbatim,
)
from ferrox_gguf.output.tool_calls.compact import CompactJson
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.writer import CallWriter
from ferrox_gguf.request import Tool

__all__ = ["HERMES", "LATE_ID", "Fields", "read_call", "read_keyed", "read_value", "stream_arguments", "verbatim"]

LATE_ID = 512
"""Characters of finished arguments held back for an id that the wire writes behind them (Mistral Nemo).

Shorter calls keep the model's id; longer ones stream and leave the id to the server: an id must be in a call's first
chunk. Counted in the text, so that cuts do not matter.
"""


@dataclass(frozen=True, slots=True)
class Fields:
    """Names of the payload's fields, first choice first.

    late_id: the family writes the id behind the arguments (see LATE_ID).
    only: the fields there may be besides; None for any (nobody reads them).
    """

    name: tuple[str, ...] = ("name",)
    arguments: tuple[str, ...] = ("arguments", "parameters")
    id: tuple[str, ...] = ()
    late_id: bool = False
    only: tuple[str, ...] | None = None

    def known(self, key: str) -> bool:
        return self.only is None or key in self.only or key in self.name + self.arguments + self.id


HERMES = Fields()


def read_call(
    text: Cursor, calls: CallWriter, closers: Sequence[str], fields: Fields = HERMES, *, listed: bool = False
) -> Steps[bool]:
    """Read one payload object at the cursor; True when it started a call (which is finished then), False: it is text.

    On True the cursor stands behind the object, or where it was given up (a closer, the end). Nothing is committed
    before the call starts, so on False the caller may go back and read the element again as something else.
    """
    if not (yield from text.take("{")):
        return False
    name: Tool | None = None
    id: str | None = None
    held: str | None = None
    while True:
        yield from text.space()
        key = yield from _string(text)
        if key is None:
            break
        if not fields.known(key):
            return False
        yield from text.space()
        if not (yield from text.take(":")):
            break
        yield from text.space()
        if key in fields.name and name is None:
            said = yield from _string(text)
            if said is None or (name := calls.offered.find(said)) is None:
                return False
        elif key in fields.id and id is None:
            value = yield from read_value(text)
            if value is None:
                break
            id = _as_id(value)
        elif key in fields.arguments and held is None:
            late = fields.late_id and id is None
            held = None if name is not None and not late else (yield from _held_value(text, LATE_ID if name else None))
            if held is None:
                yield from text.more()
                if name is not None and text.text.startswith("{", text.at):
                    if (yield from stream_call(text, calls, name, id, closers, listed=listed)):
                        yield from _rest_of_object(text)
                        text.commit()
                    return True
                held = yield from read_value(text)
                if held is None:
                    return False
        elif (yield from read_value(text)) is None:
            break
        yield from text.space()
        if not (yield from text.take(",")):
            break
    if name is None:
        return False
    arguments = "{}" if held is None else as_object(held)
    if arguments is None:
        return False
    yield from text.space()
    closed = yield from text.take("}")
    if held is None and not closed and not (yield from text.stands(closers)):
        return False  # its arguments have not begun, and are not known to be none
    if not closed:
        _unfinished(text)
    calls.start(name.name, id)
    calls.arguments(arguments)
    calls.finish()
    text.commit()
    return True


def read_keyed(text: Cursor, calls: CallWriter, closers: Sequence[str], *, listed: bool = False) -> Steps[bool]:
    """As read_call, for `{"NAME": {…}}`; further names in the object are further calls."""
    if not (yield from text.take("{")):
        return False
    called = False
    while True:
        yield from text.space()
        said = yield from _string(text)
        name = None if said is None else calls.offered.find(said)
        if name is None:
            return called
        yield from text.space()
        if not (yield from text.take(":")) or not (
            yield from read_arguments(text, calls, name, None, closers, listed=listed)
        ):
            return called
        called = True
        yield from text.space()
        if not (yield from text.take(",")):
            break
    yield from text.take("}")
    text.commit()
    return True


def _rest_of_object(text: Cursor) -> Steps[None]:
    """Behind the arguments: further fields, which nobody reads, and the object's brace, if it is there."""
    start = text.at
    while True:
        yield from text.space()
        if (yield from text.take("}")):
            return
        if not (yield from text.take(",")):
            break
        yield from text.space()
        if (yield from _string(text)) is None:
            break
        yield from text.space()
        if not (yield from text.take(":")):
            break
        yield from text.space()
        if (yield from read_value(text)) is None:
            break
    if not _unfinished(text):
        text.at = start


def _unfinished(text: Cursor) -> bool:
    """The output ended in the middle of a value (it is consumed then): what there is of it belongs to the object."""
    machine = CompactJson()
    at, _ = machine.feed(text.text, text.at)
    if text.end is None or machine.failed or machine.done:
        return False
    text.at = at
    return True


def _held_value(text: Cursor, limit: int | None) -> Steps[str | None]:
    """Consume a whole value and return it; None and nothing consumed when it is none, or longer than `limit`."""
    start = text.at
    machine = CompactJson()
    out: list[str] = []
    while True:
        at, fragment = machine.feed(text.text, text.at)
        text.at = at
        out.append(fragment)
        if limit is not None and at - start > limit:
            text.back(start)
            return None
        if machine.done:
            return "".join(out)
        if machine.failed or text.end is not None:
            text.back(start)
            return None
        yield


def _string(text: Cursor) -> Steps[str | None]:
    """Consume a whole JSON string and return its value; None and nothing consumed when there is none."""
    if not (yield from text.more()) or text.text[text.at] != '"':
        return None
    raw = yield from read_value(text)
    if raw is None:
        return None
    value: str = json.loads(raw)
    return value


def _as_id(value: str) -> str | None:
    """Ids are strings or numbers on the wire; anything else (or what no client could be sent) is no id."""
    if value.startswith('"'):
        text: str = json.loads(value)
        return text if text and not any("\ud800" <= char <= "\udfff" for char in text) else None
    return value if value[0] in "-0123456789" else None
