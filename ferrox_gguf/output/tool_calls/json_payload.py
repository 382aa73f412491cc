"""Calls whose payload is JSON: `{"name": NAME, "arguments": {…}}` in all the shapes that families give it.

A syntax reads its own markers and hands the object to `read_call`; the arguments stream while they come.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.tool_calls.compact import CompactJson
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.writer import CallWriter
from ferrox_gguf.request import Tool

LATE_ID = 512
"""Characters of finished arguments held back for an id that the wire writes behind them (Mistral Nemo).

Shorter calls keep the model's id; longer ones stream and leave the id to the server: an id must be in a call's first
chunk. Counted in the text, so that cuts do not matter.
"""


@dataclass(frozen=True, slots=True)
class Fields:
    """Names of the payload's fields, first choice first.

    late_id: the family writes the id behind the arguments (see LATE_ID).
    """

    name: tuple[str, ...] = ("name",)
    arguments: tuple[str, ...] = ("arguments", "parameters")
    id: tuple[str, ...] = ()
    late_id: bool = False


HERMES = Fields()


def read_value(text: Cursor) -> Steps[str | None]:
    """Consume one JSON value and return it compact, or None (nothing consumed) if none stands here whole."""
    start = text.at
    machine = CompactJson()
    out: list[str] = []
    while True:
        text.at, fragment = machine.feed(text.text, text.at)
        out.append(fragment)
        if machine.done or (text.end is not None and not machine.failed and machine.end()):
            return "".join(out)
        if machine.failed or text.end is not None:
            text.at = start
            return None
        yield


def stream_arguments(text: Cursor, calls: CallWriter, closers: Sequence[str], begun: str = "") -> Steps[bool]:
    """Stream the object that stands here into the open call, up to its end, a closer, or the end of output.

    begun: compact text of the value that was read before (nothing was consumed for it here).
    The first text that cannot be JSON goes out verbatim, with all that follows up to a closer (section 0, calls 6).
    Returns whether the value came to its end by itself or by a closer (False: cut off). Does not finish the call.
    """
    machine = CompactJson()
    if begun:
        _, fragment = machine.feed(begun)
        calls.arguments(fragment)
    while not machine.done:
        text.at, fragment = machine.feed(text.text, text.at)
        calls.arguments(fragment)
        text.commit()
        if machine.done:
            break
        if machine.failed:
            return (yield from _after_failure(text, calls, machine, closers))
        if text.end is not None:
            calls.arguments(machine.close() if text.end is End.DONE else machine.cut())
            return text.end is End.DONE
        yield
    return True


def _after_failure(text: Cursor, calls: CallWriter, machine: CompactJson, closers: Sequence[str]) -> Steps[bool]:
    if not machine.in_string and closers:
        at = text.at
        found = yield from text.take_any(closers)
        if found is not None:
            text.at = at
            calls.arguments(machine.close())
            return True
    calls.arguments(machine.cut())
    return (yield from verbatim(text, calls, closers))


def verbatim(text: Cursor, calls: CallWriter, closers: Sequence[str]) -> Steps[bool]:
    """Everything up to a closer goes into the open call as it stands. False: the output was cut first."""
    longest = max(map(len, closers), default=1)
    while True:
        ends = [i for i in (text.text.find(closer, text.at) for closer in closers) if i >= 0]
        stop = min(ends) if ends else len(text.text)
        if not ends and text.end is None:
            stop = max(text.at, stop - longest + 1)
        calls.arguments(text.text[text.at : stop])
        text.at = stop
        text.commit()
        if ends:
            return True
        if text.end is not None:
            return text.end is End.DONE
        yield


def read_call(text: Cursor, calls: CallWriter, closers: Sequence[str], fields: Fields = HERMES) -> Steps[bool]:
    """Read one payload object at the cursor; True when it started a call (which is finished then), False: it is text.

    On True the cursor stands behind the object, or where it was given up (a closer, the end). Nothing is committed
    before the call starts, so on False the caller may read the element again as something else.
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
            if name is not None and not (fields.late_id and id is None):
                if not (yield from text.more()):
                    return False
                if text.text[text.at] == "{":
                    return (yield from _streamed(text, calls, name, id, closers))
            limit = LATE_ID if name is not None else None
            held, over = yield from _held_value(text, limit)
            if over and name is not None:
                return (yield from _streamed(text, calls, name, id, closers))
            if held is None:
                if name is not None and text.end is not None and text.text.startswith("{", text.at):
                    return (yield from _streamed(text, calls, name, id, closers))
                return False
        elif (yield from read_value(text)) is None:
            break
        yield from text.space()
        if not (yield from text.take(",")):
            break
    if name is None:
        return False
    arguments = "{}" if held is None or held == "null" else _as_object(held)
    if arguments is None:
        return False
    yield from text.space()
    closed = yield from text.take("}")
    if held is None and not closed and not (yield from _at(text, closers)):
        return False  # its arguments have not begun, and are not known to be none
    calls.start(name.name, id)
    calls.arguments(arguments)
    calls.finish()
    text.commit()
    return True


def _streamed(text: Cursor, calls: CallWriter, name: Tool, id: str | None, closers: Sequence[str]) -> Steps[bool]:
    calls.start(name.name, id)
    whole = yield from stream_arguments(text, calls, closers)
    calls.finish(whole)
    if whole:
        yield from _rest_of_object(text)
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
    text.at = start


def _held_value(text: Cursor, limit: int | None) -> Steps[tuple[str | None, bool]]:
    """Read a whole value; (None, True) and nothing consumed when it is an object longer than `limit` characters."""
    start = text.at
    machine = CompactJson()
    out: list[str] = []
    while True:
        text.at, fragment = machine.feed(text.text, text.at)
        out.append(fragment)
        read = text.at - start
        if limit is not None and read > limit and text.text.startswith("{", start):
            text.at = start
            return None, True
        if machine.done:
            return "".join(out), False
        if machine.failed or text.end is not None:
            text.at = start
            return None, machine.failed and limit is not None and text.text.startswith("{", start)
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
    """Ids are strings or numbers on the wire; anything else is no id."""
    if value.startswith('"'):
        text: str = json.loads(value)
        return text or None
    return value if value[0] in "-0123456789" else None


def _as_object(value: str) -> str | None:
    """The compact object in `value`, which may also be a JSON string that holds one (some models encode twice)."""
    if value.startswith("{"):
        return value
    if value.startswith('"'):
        machine = CompactJson()
        inner: str = json.loads(value)
        at, compact = machine.feed(inner)
        if machine.done and compact.startswith("{") and not inner[at:].strip():
            return compact
    return None


def _at(text: Cursor, closers: Sequence[str]) -> Steps[bool]:
    """Whether a closer stands here; nothing is consumed."""
    if not closers:
        return False
    at = text.at
    found = yield from text.take_any(closers)
    text.at = at
    return found is not None
