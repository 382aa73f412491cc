"""Calls and results in the history: who answers whom, under which id, and one at a time where a template needs it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ferrox_gguf.request import Message, ToolCall
from ferrox_gguf.template.capabilities import Capabilities
from ferrox_gguf.template.text import text_of
from ferrox_gguf.template.tools_preamble import results_as_text

_SHORT_ID = re.compile(r"[A-Za-z0-9]{9}")
_KIMI_ID = re.compile(r"functions\..+:\d+")


def linked(messages: Sequence[Message]) -> list[Message]:
    """Every call has an id, every result the id and the name of its call, and results stand in the order of the calls.

    Results whose id is missing or unknown answer by name, then in order. One that answers no call at all (clients
    shorten their history) is text of the user's: templates refuse it in any other place.
    """
    out: list[Message] = []
    waiting: list[ToolCall] = []
    count = 0
    for message in messages:
        if message.role == "tool":
            call = _answered(message, waiting)
            if call is None:
                out += results_as_text([message])
                continue
            waiting.remove(call)
            message = replace(message, tool_call_id=call.id, name=message.name or call.name)
        elif message.tool_calls:
            calls = []
            for call in message.tool_calls:
                # Nine letters and digits, because some templates refuse everything else.
                calls.append(call if call.id else replace(call, id=f"call{count:05d}"))
                count += 1
            message, waiting = replace(message, tool_calls=tuple(calls)), calls
        out.append(message)
    return _in_order_of_calls(out)


def _answered(result: Message, waiting: Sequence[ToolCall]) -> ToolCall | None:
    by_id = (call for call in waiting if call.id == result.tool_call_id)
    by_name = (call for call in waiting if call.name == result.name)
    return next(by_id, None) or next(by_name, None) or (waiting[0] if waiting else None)


def _in_order_of_calls(messages: Sequence[Message]) -> list[Message]:
    out: list[Message] = []
    order: dict[str | None, int] = {}
    run: list[Message] = []
    for message in [*messages, None]:
        if message is not None and message.role == "tool" and message.tool_call_id in order:
            run.append(message)
            continue
        out += sorted(run, key=lambda result: order[result.tool_call_id])
        run = []
        if message is not None:
            out.append(message)
            if message.tool_calls:
                order = {call.id: index for index, call in enumerate(message.tool_calls)}
    return out


def split_up(messages: Sequence[Message], takes: Capabilities) -> list[Message]:
    """One call a message where the template shows only one; text before its calls where it would hide them."""
    out = list(messages)
    if not takes.content_with_calls:
        out = [part for message in out for part in _text_apart(message)]
    return out if takes.parallel_calls else _one_by_one(out)


def _text_apart(message: Message) -> list[Message]:
    if not message.tool_calls or not text_of(message.content):
        return [message]
    return [Message(message.role, message.content), replace(message, content=None)]


def _one_by_one(messages: Sequence[Message]) -> list[Message]:
    """call, call, result, result → call, result, call, result. Needs linked() messages."""
    out: list[Message] = []
    rest = list(messages)
    while rest:
        message = rest.pop(0)
        if len(message.tool_calls) < 2:
            out.append(message)
            continue
        results = []
        while rest and rest[0].role == "tool":
            results.append(rest.pop(0))
        for index, call in enumerate(message.tool_calls):
            alone = replace(message, tool_calls=(call,))
            out.append(alone if index == 0 else replace(alone, content=None, reasoning=None))
            out += [result for result in results if result.tool_call_id == call.id]
        ids = {call.id for call in message.tool_calls}
        out += [result for result in results if result.tool_call_id not in ids]
    return out


def renamed(messages: Sequence[Message], takes: Capabilities, tool_format: str | None) -> list[Message]:
    """Ids in the spelling that the model knows. The same id always becomes the same one."""
    if takes.short_ids:
        return _with_ids(
            messages, lambda call: call.id if _SHORT_ID.fullmatch(call.id or "") else _short(call.id or "")
        )
    if tool_format == "kimi_k2":
        count = iter(range(sum(len(message.tool_calls) for message in messages)))
        return _with_ids(messages, lambda call: _kimi(call, next(count)))
    return list(messages)


def _with_ids(messages: Sequence[Message], spell: Callable[[ToolCall], str | None]) -> list[Message]:
    spelled: dict[str | None, str | None] = {}
    out = []
    for message in messages:
        calls = []
        for call in message.tool_calls:
            spelled[call.id] = spell(call)
            calls.append(replace(call, id=spelled[call.id]))
        id = spelled.get(message.tool_call_id, message.tool_call_id)
        out.append(replace(message, tool_calls=tuple(calls), tool_call_id=id))
    return out


def _short(id: str) -> str:
    return hashlib.sha256(id.encode()).hexdigest()[:9]


def _kimi(call: ToolCall, index: int) -> str:
    """Kimi K2 counts its calls over the whole conversation and was trained on nothing else."""
    return call.id if call.id and _KIMI_ID.fullmatch(call.id) else f"functions.{call.name}:{index}"
