"""A call's arguments in JSON, streamed while they come: the same for every syntax that has them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.tool_calls.compact import CompactJson
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.nesting import Nesting
from ferrox_gguf.output.tool_calls.writer import CallWriter
from ferrox_gguf.request import Tool


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
    The first text that cannot be JSON goes out verbatim, with all that follows up to the call's end (section 0, calls
    6): a closer, or where the brackets are balanced again, if what comes then is what comes behind arguments.
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
        if ends_list or (yield from text.stands(closers)):
            calls.arguments(machine.close())
            return True
    calls.arguments(machine.cut())
    nesting = Nesting(machine.depth, machine.in_string)
    while True:
        closer, stop = _first(text, closers)
        end = nesting.end(text.text, text.at, stop)
        calls.arguments(text.text[text.at : stop if end is None else end])
        text.at = stop if end is None else end
        text.commit()
        if end is not None:
            return (yield from _is_end(text, closers)) or (yield from verbatim(text, calls, closers))
        if closer:
            return True
        if text.end is not None:
            return text.end is End.DONE
        yield


def _is_end(text: Cursor, closers: Sequence[str]) -> Steps[bool]:
    """Where the brackets are balanced again: does what stands here look like the end of the arguments?"""
    start = text.at
    yield from text.space()
    ends = text.at == len(text.text) or text.text[text.at] in "}],;" or (yield from text.stands(closers))
    text.at = start
    return ends


def _first(text: Cursor, closers: Sequence[str]) -> tuple[bool, int]:
    """Whether a closer stands in the text to come, and up to where there is certainly none."""
    ends = [i for i in (text.text.find(closer, text.at) for closer in closers) if i >= 0]
    if ends:
        return True, min(ends)
    if text.end is not None or not closers:
        return False, len(text.text)
    return False, max(text.at, len(text.text) - max(map(len, closers)) + 1)


def verbatim(text: Cursor, calls: CallWriter, closers: Sequence[str]) -> Steps[bool]:
    """Everything up to a closer goes into the open call as it stands. False: the output was cut first."""
    while True:
        closer, stop = _first(text, closers)
        calls.arguments(text.text[text.at : stop])
        text.at = stop
        text.commit()
        if closer:
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
    if not (yield from text.stands(closers)):
        value = yield from read_value(text)
        arguments = None if value is None else as_object(value)
        if arguments is None:
            text.back(start)
            return False
    calls.start(name.name, id)
    calls.arguments(arguments or "{}")
    calls.finish()
    text.commit()
    return True


def as_object(value: str) -> str | None:
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
