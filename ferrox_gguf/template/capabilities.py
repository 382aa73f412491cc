"""What a template can take. `examination.py` finds out; `shapes.py` obeys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from ferrox_gguf.json_types import Json
from ferrox_gguf.template.probe import parts

KEEP_THOUGHTS: Mapping[str, Json] = {
    "preserve_thinking": True,
    "preserved_thinking": True,
    "keep_past_thinking": True,
    "clear_thinking": False,
    "truncate_history_thinking": False,
    "drop_thinking": False,
}
"""The names under which templates ask whether earlier turns keep their thoughts, set to "yes"."""


class Arguments(Enum):
    """How a template wants the arguments of a past call."""

    OBJECT = "object"
    STRING = "string"


class ReasoningField(Enum):
    """Where in a message a template looks for an earlier thought."""

    REASONING_CONTENT = "reasoning_content"
    THINKING = "thinking"
    REASONING = "reasoning"
    THINKING_PART = "a content part of type thinking"
    BLOCKS = "a content mapping with blocks"


class Results(Enum):
    """How a template takes what a tool returned."""

    TOOL_ROLE = "a message of role tool"
    RESPONSES_FIELD = "tool_responses of the assistant's message"
    NONE = "not at all"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One template's answers. The defaults are those of a template that takes everything in OpenAI's shape.

    part_roles: roles whose content may be a list of parts.  late_system: a system message may stand anywhere.
    same_role_twice: two user messages may follow each other.  parallel_calls: two calls in one message both show.
    any_arguments: arguments that are no object may be given as they are.
    null_content: a message with calls must have content null, not "", or its calls vanish.
    content_with_calls: text beside calls does not make the calls vanish.
    short_ids: call ids must be nine letters or digits.
    result_names: a tool result shows the tool's name when the message carries it, and something else when not.
    reasoning_field: None where earlier thoughts are never shown.
    text_beside_thought: a message with calls may have both.
    enable_thinking: the variable may be set (False where setting it raises).
    """

    string_content: bool = True
    part_roles: frozenset[str] = frozenset()
    system_role: bool = True
    late_system: bool = True
    developer_role: bool = False
    same_role_twice: bool = True
    tools: bool = True
    tool_calls: bool = True
    parallel_calls: bool = True
    arguments: Arguments = Arguments.OBJECT
    any_arguments: bool = True
    null_content: bool = False
    content_with_calls: bool = True
    results: Results = Results.TOOL_ROLE
    result_names: bool = False
    short_ids: bool = False
    reasoning_field: ReasoningField | None = None
    text_beside_thought: bool = True
    enable_thinking: bool = True


def with_reasoning(message: dict[str, Json], thought: str, place: ReasoningField) -> dict[str, Json]:
    """The message with a thought where the template looks for it."""
    content = message.get("content")
    if place is ReasoningField.THINKING_PART:
        texts = parts(content) if isinstance(content, str) and content else content or []
        rest = texts if isinstance(texts, list) else []
        return {**message, "content": [{"type": "thinking", "thinking": thought}, *rest]}
    if place is ReasoningField.BLOCKS:
        blocks: list[Json] = [{"type": "thoughts", "text": thought}]
        if isinstance(content, str) and content:
            blocks.append({"type": "response", "text": content})
        return {**message, "content": {"blocks": blocks}}
    return {**message, place.value: thought}
