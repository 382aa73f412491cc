"""OpenAI's chat request, with llama-server's additions, as a ChatRequest."""

from __future__ import annotations

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.request import ChatRequest, Continuation, Generation, ReasoningDisplay, ToolChoiceMode
from ferrox_gguf.wire.constraints import parse_chat_constraint
from ferrox_gguf.wire.fields import boolean, integer, kind, string
from ferrox_gguf.wire.generation import parse_generation
from ferrox_gguf.wire.messages import parse_messages, parse_tool_choice, parse_tools
from ferrox_gguf.wire.served import Served
from ferrox_gguf.wire.thinking import parse_thinking, template_keywords

DEFAULT_TOP_LOGPROBS = 20


def parse_chat(body: JsonObject, served: Served) -> ChatRequest:
    messages, tools = parse_messages(body.get("messages")), parse_tools(body.get("tools"))
    choice = parse_tool_choice(body.get("tool_choice"), tools)
    if tools and choice.mode is not ToolChoiceMode.NONE and string(body, "grammar"):
        raise InvalidField("grammar", "cannot be combined with tools")
    return ChatRequest(
        messages=messages,
        tools=tools,
        tool_choice=choice,
        parallel_tool_calls=optional_boolean(body, "parallel_tool_calls"),
        template_kwargs=template_keywords(body),
        add_generation_prompt=optional_boolean(body, "add_generation_prompt"),
        continuation=parse_continuation(body.get("continue_final_message")),
        thinking=parse_thinking(body),
        reasoning_display=parse_display(body.get("reasoning_format")),
        generation=parse_chat_generation(body, served),
    )


def parse_chat_generation(body: JsonObject, served: Served) -> Generation:
    """`logprobs` is a switch here, and `top_logprobs` the number that it is in `/completion`."""
    fields = dict(body)
    wanted = fields.pop("logprobs", None)
    if isinstance(wanted, bool):
        if wanted:
            fields["n_probs"] = integer(body, "top_logprobs", DEFAULT_TOP_LOGPROBS, 0)
    elif wanted is not None:
        raise InvalidField("logprobs", f"must be a boolean, not {kind(wanted)}")
    if body.get("top_logprobs") is not None and not wanted:
        raise InvalidField("top_logprobs", "requires logprobs to be true")
    return parse_generation(fields, served, parse_chat_constraint(body))


def optional_boolean(body: JsonObject, name: str) -> bool | None:
    return None if body.get(name) is None else boolean(body, name, False)


def parse_continuation(value: Json) -> Continuation:
    """K1: true, false, a named part, or nothing. Anything else is refused, since a typo would close the turn."""
    if value is None:
        return Continuation.UNSET
    if isinstance(value, bool):
        return Continuation.AUTO if value else Continuation.OFF
    if value in ("reasoning_content", "content"):
        return Continuation(value)
    raise InvalidField("continue_final_message", 'must be true, false, "reasoning_content" or "content"')


def parse_display(value: Json) -> ReasoningDisplay | None:
    if value is None:
        return None
    try:
        return ReasoningDisplay(value)
    except ValueError:
        allowed = ", ".join(display.value for display in ReasoningDisplay)
        raise InvalidField("reasoning_format", f"must be one of {allowed}") from None
