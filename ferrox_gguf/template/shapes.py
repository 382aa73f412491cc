"""request.Message → the dictionaries that one template wants (wire formats, 6.4); `Capabilities` says what it wants."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ferrox_gguf.json_types import Json
from ferrox_gguf.request import Message, ToolCall
from ferrox_gguf.template.calls import linked, renamed, split_up
from ferrox_gguf.template.capabilities import Arguments, Capabilities, ReasoningField, Results, with_reasoning
from ferrox_gguf.template.roles import placed
from ferrox_gguf.template.text import joined, text_of, trimmed
from ferrox_gguf.template.tools_preamble import calls_as_text, results_as_text

_TRIMS = "You have access to the following functions in JSONSchema format"
"""StepFun: white space left around a text drives that model into loops (llama.cpp recognises it by the same words)."""


class Shaper:
    """Shapes conversations for one template.

    tool_format: the family's syntax (posture), for ids and for calls that the template cannot show.
    """

    def __init__(self, takes: Capabilities, *, source: str, tool_format: str | None) -> None:
        self._takes, self._tool_format = takes, tool_format
        self._trims = _TRIMS in source

    def messages(self, messages: Sequence[Message], *, calls_in_text: bool = False) -> list[dict[str, Json]]:
        """The conversation as the template takes it. calls_in_text: the Hermes preamble is in use."""
        turns = [trimmed(message) for message in messages] if self._trims else list(messages)
        turns = linked(turns)
        if calls_in_text:
            turns = calls_as_text(turns)
        elif not self._takes.tool_calls:
            turns = calls_as_text(turns, self._tool_format)
        else:
            turns = renamed(split_up(turns, self._takes), self._takes, self._tool_format)
            if self._takes.results is Results.NONE:
                turns = results_as_text(turns)
        turns = placed(turns, self._takes)
        shaped = [self._shaped(message) for message in turns]
        if self._takes.reasoning_field is ReasoningField.BLOCKS and any(message.reasoning for message in turns):
            shaped = [_in_blocks(message) for message in shaped]
        return _responses_in_call_turns(shaped) if self._takes.results is Results.RESPONSES_FIELD else shaped

    def _shaped(self, message: Message) -> dict[str, Json]:
        out: dict[str, Json] = {**message.extra, "role": message.role, "content": self._content(message)}
        if message.tool_calls:
            out["tool_calls"] = [self._call(call) for call in message.tool_calls]
        if message.tool_call_id is not None:
            out["tool_call_id"] = message.tool_call_id
        if message.name is not None and (message.role != "tool" or self._takes.result_names):
            out["name"] = message.name
        if message.reasoning and message.role == "assistant" and self._takes.reasoning_field is not None:
            return self._with_thought(out, message.reasoning)
        return out

    def _content(self, message: Message) -> Json:
        content = message.content
        if message.tool_calls and self._takes.null_content:
            return None
        if isinstance(content, tuple) and message.role in self._takes.part_roles:
            return [{"type": "text", "text": part.text} for part in content]
        text = text_of(content)
        if self._takes.string_content or message.role == "tool":
            return text
        return [{"type": "text", "text": text}]

    def _call(self, call: ToolCall) -> Json:
        function: dict[str, Json] = {"name": call.name, "arguments": self._arguments(call)}
        return {"id": call.id, "type": "function", "function": function}

    def _arguments(self, call: ToolCall) -> Json:
        if self._takes.arguments is Arguments.STRING:
            return call.arguments or "{}"
        try:
            value: Json = json.loads(call.arguments or "{}")
        except ValueError:
            # What a model wrote may be cut or no JSON at all; it is history now and must still be shown.
            value = call.arguments
        if value is None:
            return {}
        return value if isinstance(value, dict) or self._takes.any_arguments else {"arguments": call.arguments}

    def _with_thought(self, message: dict[str, Json], thought: str) -> dict[str, Json]:
        place = self._takes.reasoning_field
        assert place is not None
        content = message["content"]
        if "tool_calls" in message and not self._takes.text_beside_thought and isinstance(content, str):
            # Harmony's template takes one or the other beside a call and prints either as analysis.
            message, thought = {**message, "content": ""}, joined(thought, content, "\n\n")
        return with_reasoning(message, thought, place)


def _in_blocks(message: dict[str, Json]) -> dict[str, Json]:
    """Apertus wants every assistant message in the form of the first."""
    content = message["content"]
    if message["role"] != "assistant" or not isinstance(content, str):
        return message
    blocks: list[Json] = [{"type": "response", "text": content}] if content else []
    return {**message, "content": {"blocks": blocks}}


def _responses_in_call_turns(messages: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
    """Gemma 4's first revisions read results from the message that called (wire formats, 3.11)."""
    out: list[dict[str, Json]] = []
    for message in messages:
        calls = out[-1].get("tool_calls") if out else None
        if message["role"] != "tool" or not isinstance(calls, list):
            out.append(message)
            continue
        given = out[-1].get("tool_responses")
        responses = list(given) if isinstance(given, list) else []
        response: Json = {"name": _called(calls, message), "response": _result(message["content"])}
        out[-1] = {**out[-1], "tool_responses": [*responses, response]}
    return out


def _called(calls: Sequence[Json], result: dict[str, Json]) -> Json:
    for call in calls:
        if isinstance(call, dict) and call.get("id") == result.get("tool_call_id"):
            function = call["function"]
            return function.get("name") if isinstance(function, dict) else None
    return result.get("name")


def _result(content: Json) -> Json:
    """A result that is a JSON object is shown field by field."""
    try:
        value: Json = json.loads(content) if isinstance(content, str) else content
    except ValueError:
        return content
    return value if isinstance(value, dict) else content
