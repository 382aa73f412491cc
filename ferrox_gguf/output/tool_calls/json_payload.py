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
            text.back(start)
            return None
        yield


def stream_arguments(
    text: Cursor, calls: CallWriter, closers: Sequence[str], begun: str = "", *, listed: bool = False
) -> Steps[bool]:
    """Stream the object that stands here into the open call, up to its end, a closer, or the end of output.

    begun: compact text of the value that was read before (nothing was consumed for it here).
    listed: the call stands in a JSON list, whose `]` ends it too.
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
            return (yield from _after_failure(text, calls, machine, closers, listed))
        if text.end is not None:
            calls.arguments(machine.close() if text.end is End.DONE else machine.cut())
            return text.end is End.DONE
        yield
    return True


def _after_failure(
    text: Cursor, calls: CallWriter, machine: CompactJson, closers: Sequence[str], listed: bool
) -> Steps[bool]:
    """What stands here cannot be JSON: it ends the call, or goes into it as it is."""
    if not machine.in_string:
        ends_list = listed and not machine.in_list and text.text.startswith("]", text.at)
        if ends_list or (yield from _at(text, closers)):
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


def stream_call(
    text: Cursor,
    calls: CallWriter,
    name: Tool,
    id: str | None,
    closers: Sequence[str],
    *,
    listed: bool = False,
) -> Steps[bool]:
    """A whole call whose arguments' object stands here. Returns whether it came to its end (see stream_arguments)."""
    calls.start(name.name, id)
    whole = yield from stream_arguments(text, calls, closers, listed=listed)
    calls.finish(whole)
    text.commit()
    return whole


def read_arguments(
    text: Cursor,
    calls: CallWriter,
    name: Tool,
    id: str | None,
    closers: Sequence[str],
    *,
    listed: bool = False,
) -> Steps[bool]:
    """The call of `name`, whose arguments come next: an object, `null`, a string that holds an object, or nothing
    before a closer. False: none of these, and nothing was consumed."""
    start = text.at
    yield from text.space()
    if text.text.startswith("{", text.at):
        yield from stream_call(text, calls, name, id, closers, listed=listed)
        return True
    arguments: str | None = "{}"
    if not (yield from _at(text, closers)):
        value = yield from read_value(text)
        arguments = None if value is None else _as_object(value)
        if arguments is None:
            text.back(start)
            return False
    calls.start(name.name, id)
    calls.arguments(arguments or "{}")
    calls.finish()
    text.commit()
    return True


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
    arguments = "{}" if held is None else _as_object(held)
    if arguments is None:
        return False
    yield from text.space()
    closed = yield from text.take("}")
    if held is None and not closed and not (yield from _at(text, closers)):
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


def _as_object(value: str) -> str | None:
    """The compact object that `value` means: itself, `{}` for null and "", or what a JSON string holds (some models
    encode twice). None: it is no object."""
    if value in ("null", '""'):
        return "{}"
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
