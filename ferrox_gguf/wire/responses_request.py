"""OpenAI's Responses request as a ChatRequest, and what its answer says again.

Items become messages; tools and items that only OpenAI's servers know are left out: agents (Codex) send them always.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import orjson

from ferrox_gguf.errors import InvalidField, MediaNotSupported
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.request import (
    ChatRequest,
    Generation,
    GrammarKind,
    GrammarSpec,
    Message,
    TextPart,
    Tool,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
)
from ferrox_gguf.wire.chat_request import optional_boolean, parse_continuation, parse_display
from ferrox_gguf.wire.fields import integer, kind, mapping, string
from ferrox_gguf.wire.generation import parse_generation
from ferrox_gguf.wire.messages import MEDIA_PARTS, TEXT_PARTS, optional_string
from ferrox_gguf.wire.served import Served
from ferrox_gguf.wire.thinking import parse_thinking

UNSTORED = "is not supported: this server keeps no responses; send the whole conversation in input"
OWN_FIELDS = ("max_tokens", "max_completion_tokens", "n_predict", "n", "n_cmpl", "logprobs", "stop")


@dataclass(frozen=True, slots=True)
class Echo:
    """Fields of the request that the response object repeats."""

    instructions: Json = None
    max_output_tokens: int | None = None
    metadata: JsonObject = field(default_factory=dict)
    parallel_tool_calls: bool = True
    reasoning: JsonObject = field(default_factory=dict)
    temperature: float | None = None
    text: JsonObject = field(default_factory=lambda: {"format": {"type": "text"}})
    tool_choice: Json = "auto"
    tools: tuple[JsonObject, ...] = ()
    top_p: float | None = None


def parse_responses(body: JsonObject, served: Served) -> ChatRequest:
    for name in ("previous_response_id", "conversation"):
        if body.get(name) is not None:
            raise InvalidField(name, UNSTORED)
    tools = tuple(parse_tools(body.get("tools")))
    instructions = string(body, "instructions")
    system = (Message("system", instructions),) if instructions else ()
    return ChatRequest(
        messages=(*system, *parse_input(body.get("input"))),
        tools=tools,
        tool_choice=parse_choice(body.get("tool_choice"), tools),
        parallel_tool_calls=optional_boolean(body, "parallel_tool_calls"),
        template_kwargs=mapping(body, "chat_template_kwargs"),
        continuation=parse_continuation(body.get("continue_final_message")),
        thinking=parse_thinking(body),
        reasoning_display=parse_display(body.get("reasoning_format")),
        generation=parse_limits(body, served),
    )


def parse_echo(body: JsonObject, request: ChatRequest) -> Echo:
    limit = body.get("max_output_tokens")
    sampling = request.generation.sampling
    return Echo(
        instructions=body.get("instructions"),
        max_output_tokens=None if limit is None else integer(body, "max_output_tokens", 0),
        metadata=mapping(body, "metadata"),
        parallel_tool_calls=request.parallel_tool_calls is not False,
        reasoning=mapping(body, "reasoning"),
        temperature=sampling.temperature,
        text={"format": {"type": "text"}, **mapping(body, "text")},
        tool_choice=body.get("tool_choice") or "auto",
        tools=tuple(tool_json(tool) for tool in request.tools),
        top_p=sampling.top_p,
    )


def tool_json(tool: Tool) -> JsonObject:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
        "strict": tool.strict,
    }


def parse_limits(body: JsonObject, served: Served) -> Generation:
    fields = {key: value for key, value in body.items() if key not in OWN_FIELDS}
    if body.get("max_output_tokens") is not None:
        fields["max_tokens"] = integer(body, "max_output_tokens", 0, 0)
    if body.get("top_logprobs") is not None:
        fields["n_probs"] = integer(body, "top_logprobs", 0, 0)
    return replace(parse_generation(fields, served, parse_format(body)), n=1)


def parse_format(body: JsonObject) -> GrammarSpec | None:
    """`text.format`: Responses writes the schema beside the type, not below it."""
    wanted = mapping(mapping(body, "text"), "format")
    mode = wanted.get("type")
    if mode in (None, "text"):
        return None
    if mode == "json_object":
        return GrammarSpec(GrammarKind.JSON_SCHEMA, '{"type":"object"}')
    if mode != "json_schema":
        raise InvalidField("text.format.type", 'must be "text", "json_object" or "json_schema"')
    schema = wanted.get("schema")
    if not isinstance(schema, dict):
        raise InvalidField("text.format.schema", f"must be an object, not {kind(schema)}")
    return GrammarSpec(GrammarKind.JSON_SCHEMA, orjson.dumps(schema).decode())


# -- input items


def parse_input(value: Json) -> tuple[Message, ...]:
    if value is None:
        raise InvalidField("input", "is required")
    if isinstance(value, str):
        return (Message("user", value),)
    if not isinstance(value, list):
        raise InvalidField("input", f"must be a string or an array of items, not {kind(value)}")
    turns = _Turns()
    for at, item in enumerate(value):
        path = f"input[{at}]"
        if isinstance(item, str):
            turns.add(Message("user", item))
        elif isinstance(item, dict):
            _item(item, path, turns)
        else:
            raise InvalidField(path, f"must be an object, not {kind(item)}")
    return tuple(turns.done())


class _Turns:
    """Gathers an assistant's thought, words and calls, which come as separate items, into one message."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._turn: Message | None = None

    def add(self, message: Message) -> None:
        self._close()
        self._messages.append(message)

    def said(self, content: str | tuple[TextPart, ...] | None) -> None:
        if self._turn is not None and (self._turn.content is not None or self._turn.tool_calls):
            self._close()
        self._turn = replace(self._open(), content=content)

    def thought(self, text: str) -> None:
        if self._turn is not None and (self._turn.content is not None or self._turn.tool_calls):
            self._close()
        turn = self._open()
        self._turn = replace(turn, reasoning="\n".join(filter(None, (turn.reasoning, text))) or None)

    def called(self, call: ToolCall) -> None:
        turn = self._open()
        self._turn = replace(turn, tool_calls=(*turn.tool_calls, call))

    def done(self) -> list[Message]:
        self._close()
        return self._messages

    def _open(self) -> Message:
        return self._turn or Message("assistant")

    def _close(self) -> None:
        if self._turn is not None:
            self._messages.append(self._turn)
            self._turn = None


def _item(item: dict[str, Json], path: str, turns: _Turns) -> None:
    name = item.get("type", "message")
    if name == "message":
        role = item.get("role")
        if not isinstance(role, str) or not role:
            raise InvalidField(f"{path}.role", "must be a string")
        content = parse_content(item.get("content"), f"{path}.content")
        if role == "assistant":
            turns.said(content)
        else:
            turns.add(Message(role, content))
    elif name == "function_call":
        if not isinstance(item.get("name"), str):
            raise InvalidField(f"{path}.name", "must be a string")
        id = optional_string(item, "call_id") or optional_string(item, "id")
        turns.called(ToolCall(string(item, "name"), string(item, "arguments") or "{}", id))
    elif name == "function_call_output":
        output = parse_content(item.get("output"), f"{path}.output")
        turns.add(Message("tool", output, tool_call_id=optional_string(item, "call_id")))
    elif name == "reasoning":
        turns.thought(reasoning_text(item))
    elif name == "item_reference":
        raise InvalidField(path, f"an item_reference {UNSTORED}")


def parse_content(value: Json, path: str) -> str | tuple[TextPart, ...] | None:
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise InvalidField(path, f"must be a string or an array of parts, not {kind(value)}")
    return tuple(part for at, raw in enumerate(value) for part in _part(raw, f"{path}[{at}]"))


def _part(part: Json, path: str) -> Iterator[TextPart]:
    if isinstance(part, str):
        yield TextPart(part)
        return
    if not isinstance(part, dict):
        raise InvalidField(path, f"must be an object, not {kind(part)}")
    name = part.get("type")
    if isinstance(name, str) and (name in MEDIA_PARTS or name == "input_file"):
        raise MediaNotSupported(MEDIA_PARTS.get(name, "file"))
    if name in TEXT_PARTS:
        yield TextPart(string(part, "refusal" if name == "refusal" else "text"))


def reasoning_text(item: dict[str, Json]) -> str:
    """The thought itself where the client kept it, else its summary."""
    for name in ("content", "summary"):
        parts = item.get(name)
        if isinstance(parts, list):
            texts = [string(part, "text") for part in parts if isinstance(part, dict)]
            if any(texts):
                return "\n".join(filter(None, texts))
    return ""


# -- tools


def parse_tools(value: Json) -> Iterator[Tool]:
    """Function tools, whose name and schema stand in the tool itself; other types are OpenAI's own."""
    if value is None:
        return
    if not isinstance(value, list):
        raise InvalidField("tools", f"must be an array, not {kind(value)}")
    for at, tool in enumerate(value):
        if not isinstance(tool, dict):
            raise InvalidField(f"tools[{at}]", f"must be an object, not {kind(tool)}")
        if tool.get("type", "function") != "function":
            continue
        function = tool["function"] if isinstance(tool.get("function"), dict) else tool
        assert isinstance(function, dict)
        if not isinstance(function.get("name"), str) or not function["name"]:
            raise InvalidField(f"tools[{at}].name", "must be a string")
        yield Tool(
            string(function, "name"),
            optional_string(function, "description"),
            mapping(function, "parameters"),
            strict=function.get("strict") is True,
        )


def parse_choice(value: Json, tools: tuple[Tool, ...]) -> ToolChoice:
    if value is None or not tools:
        return ToolChoice()
    if isinstance(value, str) and value in ("none", "auto", "required"):
        return ToolChoice(ToolChoiceMode(value))
    if isinstance(value, dict) and value.get("type") == "function" and isinstance(value.get("name"), str):
        name = string(value, "name")
        if name not in {tool.name for tool in tools}:
            raise InvalidField("tool_choice", f'there is no tool "{name}" among the tools')
        return ToolChoice(ToolChoiceMode.NAMED, name)
    if isinstance(value, dict) and value.get("type") == "allowed_tools":
        return ToolChoice(ToolChoiceMode.REQUIRED if value.get("mode") == "required" else ToolChoiceMode.AUTO)
    raise InvalidField("tool_choice", 'must be "none", "auto", "required" or {"type": "function", "name": …}')
