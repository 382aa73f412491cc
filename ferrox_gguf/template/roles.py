"""Who speaks where: roles and an order of turns that the template accepts, with every text kept.

Clients send system and developer messages late (coding agents do, to remind), repeat a role, or use roles that a
template has not heard of. What the template takes as it is stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ferrox_gguf.request import Message
from ferrox_gguf.template.capabilities import Capabilities
from ferrox_gguf.template.text import joined

_PARAGRAPH = "\n\n"
_SPEAKERS = ("system", "user", "assistant")


def placed(messages: Sequence[Message], takes: Capabilities) -> list[Message]:
    """The same conversation in roles and places that the template takes."""
    turns = list(messages) if takes.developer_role else [_as_system(message) for message in messages]
    if not takes.late_system:
        turns = _system_first(turns)
    if not takes.system_role:
        turns = _system_into_user(turns)
    return turns if takes.same_role_twice else _alternating(turns)


def _as_system(message: Message) -> Message:
    return replace(message, role="system") if message.role == "developer" else message


def _is_system(message: Message) -> bool:
    return message.role in ("system", "developer")


def _system_first(turns: Sequence[Message]) -> list[Message]:
    """Every system text in the one message that the template allows, at the beginning, in their order."""
    texts = [message for message in turns if _is_system(message)]
    if not texts:
        return list(turns)
    first, *later = texts
    for message in later:
        first = replace(first, content=joined(first.content, message.content, _PARAGRAPH))
    return [first, *(message for message in turns if not _is_system(message))]


def _system_into_user(turns: Sequence[Message]) -> list[Message]:
    """Without a system role the text goes to the head of the next user message, with llama-server's line break."""
    out: list[Message] = []
    held = ""
    for message in turns:
        if _is_system(message):
            held = joined(held, message.content, _PARAGRAPH)
        elif held and message.role == "user":
            out.append(replace(message, content=joined(held, message.content, "\n")))
            held = ""
        else:
            out.append(message)
    if held:
        out.append(Message("user", held))
    return out


def _alternating(turns: Sequence[Message]) -> list[Message]:
    """Two messages of one speaker become one, for templates that refuse them. Calls and results stay apart.

    A question that follows results directly, because the model was interrupted there, follows an empty answer instead.
    """
    out: list[Message] = []
    for message in turns:
        last = out[-1] if out else None
        if last and last.role == message.role and message.role in _SPEAKERS and not last.tool_calls:
            reasoning = _PARAGRAPH.join(filter(None, (last.reasoning, message.reasoning))) or None
            content = joined(last.content, message.content, _PARAGRAPH)
            out[-1] = replace(message, content=content, reasoning=reasoning)
            continue
        if last and message.role == "user" and (last.role == "tool" or last.tool_calls):
            out.append(Message("assistant", ""))
        out.append(message)
    return out
