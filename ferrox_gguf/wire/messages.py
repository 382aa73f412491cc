"""Chat messages and tools as OpenAI writes them, and as clients bend them."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.json_types import Json
from ferrox_gguf.request import Message, TextPart, Tool, ToolCall, ToolChoice, ToolChoiceMode
from ferrox_gguf.wire.fields import kind, mapping, string

TEXT_PARTS = ("text", "input_text", "output_text", "refusal")
MEDIA_PARTS = {
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "input_video": "video",
    "video_url": "video",
}
NAMED = frozenset({"role", "content", "reasoning_content", "reasoning", "tool_calls", "tool_call_id", "name"})
"""Fields that have a place of their own; a template may still read any other."""


def parse_messages(value: Json) -> tuple[Message, ...]:
    if value is None:
        raise InvalidField("messages", "is required")
    if not isinstance(value, list):
        raise InvalidField("messages", f"must be an array, not {kind(value)}")
    return tuple(parse_message(message, f"messages[{at}]") for at, message in enumerate(value))


def parse_message(value: Json, path: str) -> Message:
    """Content may be missing only where there is something else to say: calls, or a thought."""
    if not isinstance(value, dict):
        raise InvalidField(path, f"must be an object, not {kind(value)}")
    role = value.get("role")
    if not isinstance(role, str) or not role:
        raise InvalidField(f"{path}.role", "must be a string")
    reasoning = parse_reasoning(value, path)
    calls = tuple(parse_calls(value.get("tool_calls"), path))
    if "content" not in value and not (role == "assistant" and (calls or reasoning)):
        raise InvalidField(f"{path}.content", "is required, except beside an assistant's tool_calls")
    return Message(
        role=role,
        content=parse_content(value.get("content"), f"{path}.content"),
        reasoning=reasoning,
        tool_calls=calls,
        tool_call_id=optional_string(value, "tool_call_id"),
        name=optional_string(value, "name"),
        extra={key: item for key, item in value.items() if key not in NAMED},
    )


def parse_content(value: Json, path: str) -> str | tuple[TextPart, ...] | None:
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise InvalidField(path, f"must be a string or an array of parts, not {kind(value)}")
    return tuple(parse_part(part, f"{path}[{at}]") for at, part in enumerate(value))


def parse_part(part: Json, path: str) -> TextPart:
    if not isinstance(part, dict):
        raise InvalidField(path, f"must be an object, not {kind(part)}")
    name = part.get("type")
    if name in TEXT_PARTS:
        text = part.get("refusal") if name == "refusal" else part.get("text")
        if not isinstance(text, str):
            raise InvalidField(f"{path}.text", "must be a string")
        return TextPart(text)
    if isinstance(name, str) and name in MEDIA_PARTS:
        raise InvalidField(path, f"{MEDIA_PARTS[name]} input is not supported: this model takes text only")
    raise InvalidField(f"{path}.type", f'must be "text", not {orjson.dumps(name).decode()}')


def parse_reasoning(value: dict[str, Json], path: str) -> str | None:
    """`reasoning_content`, or `reasoning` as some clients replay it."""
    for name in ("reasoning_content", "reasoning"):
        thought = value.get(name)
        if isinstance(thought, str):
            return thought or None
        if thought is not None:
            raise InvalidField(f"{path}.{name}", f"must be a string, not {kind(thought)}")
    return None


def parse_calls(value: Json, path: str) -> Iterator[ToolCall]:
    if value is None:
        return
    if not isinstance(value, list):
        raise InvalidField(f"{path}.tool_calls", f"must be an array, not {kind(value)}")
    for at, call in enumerate(value):
        where = f"{path}.tool_calls[{at}]"
        if not isinstance(call, dict):
            raise InvalidField(where, f"must be an object, not {kind(call)}")
        yield parse_call(call, where)


def parse_call(call: dict[str, Json], path: str) -> ToolCall:
    """arguments: JSON text, or the object itself, which some clients replay."""
    if call.get("type", "function") != "function":
        raise InvalidField(f"{path}.type", 'must be "function"')
    function = call.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise InvalidField(f"{path}.function", "must be an object with a name")
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else orjson.dumps({} if arguments is None else arguments).decode()
    return ToolCall(string(function, "name"), text or "{}", optional_string(call, "id"))


def optional_string(value: dict[str, Json], name: str) -> str | None:
    return string(value, name) if value.get(name) is not None else None


def parse_tools(value: Json) -> tuple[Tool, ...]:
    """Function tools; description and parameters may be missing."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidField("tools", f"must be an array, not {kind(value)}")
    return tuple(parse_tool(tool, f"tools[{at}]") for at, tool in enumerate(value))


def parse_tool(tool: Json, path: str) -> Tool:
    if not isinstance(tool, dict) or tool.get("type", "function") != "function":
        raise InvalidField(f"{path}.type", 'must be "function"')
    function = tool.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str) or not function["name"]:
        raise InvalidField(f"{path}.function", "must be an object with a name")
    return Tool(
        name=string(function, "name"),
        description=optional_string(function, "description"),
        parameters=mapping(function, "parameters"),
        strict=function.get("strict") is True,
    )


def parse_tool_choice(value: Json, tools: tuple[Tool, ...]) -> ToolChoice:
    """A word, or one function by name. Without tools there is nothing to choose, and nothing is asked."""
    if value is None or not tools:
        return ToolChoice()
    if isinstance(value, str) and value in ("none", "auto", "required"):
        return ToolChoice(ToolChoiceMode(value))
    function = value.get("function") if isinstance(value, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str):
        raise InvalidField("tool_choice", 'must be "none", "auto", "required" or an object that names one function')
    if name not in {tool.name for tool in tools}:
        raise InvalidField("tool_choice", f'there is no tool "{name}" among the tools')
    return ToolChoice(ToolChoiceMode.NAMED, name)
