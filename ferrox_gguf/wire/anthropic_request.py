"""Anthropic's Messages request as a ChatRequest: blocks become messages, calls and thoughts.

What only Anthropic's own servers can do (their tools, their citations) is left out, not refused: agents send it always.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

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
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolChoiceMode,
)
from ferrox_gguf.wire.chat_request import parse_continuation, parse_display
from ferrox_gguf.wire.fields import boolean, integer, kind, mapping, string, strings
from ferrox_gguf.wire.generation import parse_generation
from ferrox_gguf.wire.messages import optional_string
from ferrox_gguf.wire.served import Served
from ferrox_gguf.wire.thinking import parse_thinking

DEFAULT_MAX_TOKENS = 4096
"""Anthropic requires `max_tokens`; llama-server takes this when a client leaves it out."""

MEDIA = {"image": "image", "document": "document", "container_upload": "file"}
CHOICES = {"auto": ToolChoiceMode.AUTO, "any": ToolChoiceMode.REQUIRED, "none": ToolChoiceMode.NONE}


def parse_anthropic(body: JsonObject, served: Served) -> ChatRequest:
    tools = tuple(parse_tools(body.get("tools")))
    choice = parse_choice(mapping(body, "tool_choice"), tools)
    return ChatRequest(
        messages=(*parse_system(body.get("system")), *parse_turns(body.get("messages"))),
        tools=tools,
        tool_choice=choice,
        parallel_tool_calls=parallel(mapping(body, "tool_choice")),
        template_kwargs=mapping(body, "chat_template_kwargs"),
        continuation=parse_continuation(body.get("continue_final_message")),
        thinking=parse_anthropic_thinking(body),
        reasoning_display=parse_display(body.get("reasoning_format")),
        generation=parse_limits(body, served),
    )


def parse_limits(body: JsonObject, served: Served) -> Generation:
    fields = {key: value for key, value in body.items() if key not in ("stop", "logprobs", "n", "n_cmpl")}
    fields.setdefault("max_tokens", DEFAULT_MAX_TOKENS)
    generation = parse_generation(fields, served, parse_format(body))
    return replace(generation, stop=tuple(stop for stop in strings(body, "stop_sequences") or () if stop), n=1)


def parse_format(body: JsonObject) -> GrammarSpec | None:
    """`output_config.format` (or `output_format`, its older place): a JSON schema for the answer."""
    wanted = mapping(mapping(body, "output_config"), "format") or mapping(body, "output_format")
    if not wanted:
        return None
    if wanted.get("type") != "json_schema":
        raise InvalidField("output_config.format.type", 'must be "json_schema"')
    schema = wanted.get("schema")
    if not isinstance(schema, dict):
        raise InvalidField("output_config.format.schema", f"must be an object, not {kind(schema)}")
    return GrammarSpec(GrammarKind.JSON_SCHEMA, orjson.dumps(schema).decode())


def parse_anthropic_thinking(body: JsonObject) -> Thinking:
    """`thinking` decides; llama-server's own spellings stand where it is absent."""
    said, asked = parse_thinking(body), mapping(body, "thinking")
    effort = string(mapping(body, "output_config"), "effort") or said.effort
    mode = asked.get("type")
    if mode is None:
        return replace(said, effort=effort)
    if mode not in ("enabled", "disabled", "adaptive"):
        raise InvalidField("thinking.type", 'must be "enabled", "disabled" or "adaptive"')
    budget = integer(asked, "budget_tokens", -1, 0) if asked.get("budget_tokens") is not None else said.budget
    return replace(said, enabled=mode != "disabled", effort=effort, budget=budget)


# -- turns


def parse_system(value: Json) -> Iterator[Message]:
    if value is None or value == "":
        return
    if isinstance(value, str):
        yield Message("system", value)
        return
    yield Message("system", text_parts(blocks_of(value, "system"), "system"))


def parse_turns(value: Json) -> Iterator[Message]:
    if value is None:
        raise InvalidField("messages", "is required")
    if not isinstance(value, list):
        raise InvalidField("messages", f"must be an array, not {kind(value)}")
    for at, turn in enumerate(value):
        path = f"messages[{at}]"
        if not isinstance(turn, dict):
            raise InvalidField(path, f"must be an object, not {kind(turn)}")
        role, content = turn.get("role"), turn.get("content")
        if not isinstance(role, str) or role not in ("user", "assistant", "system", "developer"):
            raise InvalidField(f"{path}.role", 'must be "user" or "assistant"')
        if isinstance(content, str):
            yield Message(role, content)
        else:
            blocks = blocks_of(content, f"{path}.content")
            yield from (assistant_turn if role == "assistant" else user_turn)(blocks, role, f"{path}.content")


def assistant_turn(blocks: list[JsonObject], role: str, path: str) -> Iterator[Message]:
    """One message of a turn's text, calls and thoughts."""
    thoughts = [string(block, "thinking") for block in blocks if block.get("type") == "thinking"]
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    parts = text_parts([b for b in blocks if b.get("type") not in ("thinking", "tool_use")], path)
    yield Message(
        role,
        parts or None,
        reasoning="\n".join(thought for thought in thoughts if thought) or None,
        tool_calls=tuple(parse_call(call, path) for call in calls),
    )


def parse_call(block: JsonObject, path: str) -> ToolCall:
    name = block.get("name")
    if not isinstance(name, str) or not name:
        raise InvalidField(f"{path}.name", "a tool_use block needs the tool's name")
    arguments = orjson.dumps(block.get("input") or {}).decode()
    return ToolCall(name, arguments, optional_string(dict(block), "id"))


def user_turn(blocks: list[JsonObject], role: str, path: str) -> Iterator[Message]:
    """Results first, as they answer the turn before; then what the person wrote."""
    for block in blocks:
        if block.get("type") == "tool_result":
            yield tool_result(block, path)
    rest = [block for block in blocks if block.get("type") != "tool_result"]
    if rest or not blocks:
        yield Message(role, text_parts(rest, path))


def tool_result(block: JsonObject, path: str) -> Message:
    content = block.get("content")
    parts = content if isinstance(content, str) else text_parts(blocks_of(content or [], path), path)
    return Message("tool", parts, tool_call_id=string(block, "tool_use_id") or None)


def blocks_of(value: Json, path: str) -> list[JsonObject]:
    if not isinstance(value, list):
        raise InvalidField(path, f"must be a string or an array of blocks, not {kind(value)}")
    blocks: list[JsonObject] = []
    for at, block in enumerate(value):
        if isinstance(block, str):
            blocks.append({"type": "text", "text": block})
        elif isinstance(block, dict):
            blocks.append(block)
        else:
            raise InvalidField(f"{path}[{at}]", f"must be an object, not {kind(block)}")
    return blocks


def text_parts(blocks: list[JsonObject], path: str) -> tuple[TextPart, ...]:
    """The blocks' text. Media is refused by name; blocks without text for a model are left out."""
    return tuple(part for block in blocks if (part := text_part(block, path)) is not None)


def text_part(block: JsonObject, path: str) -> TextPart | None:
    name = block.get("type")
    if name == "text":
        text = block.get("text")
        if not isinstance(text, str):
            raise InvalidField(f"{path}.text", f"must be a string, not {kind(text)}")
        return TextPart(text)
    if name == "document" and mapping(block, "source").get("type") == "text":
        return TextPart(string(mapping(block, "source"), "data"))
    if isinstance(name, str) and name in MEDIA:
        raise MediaNotSupported(MEDIA[name])
    if not isinstance(name, str):
        raise InvalidField(f"{path}.type", "must be a string")
    return None


# -- tools


def parse_tools(value: Json) -> Iterator[Tool]:
    """Tools with a schema of the client's own. Anthropic's built-in ones have a type and no schema: left out."""
    if value is None:
        return
    if not isinstance(value, list):
        raise InvalidField("tools", f"must be an array, not {kind(value)}")
    for at, tool in enumerate(value):
        if not isinstance(tool, dict):
            raise InvalidField(f"tools[{at}]", f"must be an object, not {kind(tool)}")
        if tool.get("type") not in (None, "custom"):
            continue
        name = tool.get("name")
        if not isinstance(name, str) or not name:
            raise InvalidField(f"tools[{at}].name", "must be a string")
        schema = mapping(tool, "input_schema")
        yield Tool(name, optional_string(tool, "description"), schema, strict=tool.get("strict") is True)


def parse_choice(choice: JsonObject, tools: tuple[Tool, ...]) -> ToolChoice:
    mode = choice.get("type")
    if mode is None or not tools:
        return ToolChoice()
    if isinstance(mode, str) and mode in CHOICES:
        return ToolChoice(CHOICES[mode])
    if mode != "tool":
        raise InvalidField("tool_choice.type", 'must be "auto", "any", "tool" or "none"')
    name = string(choice, "name")
    if name not in {tool.name for tool in tools}:
        raise InvalidField("tool_choice.name", f'there is no tool "{name}" among the tools')
    return ToolChoice(ToolChoiceMode.NAMED, name)


def parallel(choice: JsonObject) -> bool | None:
    return False if boolean(choice, "disable_parallel_tool_use", False) else None
