"""Anthropic's Messages: requests, and answers as the official client's own types read them."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from anthropic.types import Message as AnthropicMessage
from anthropic.types import RawMessageStreamEvent
from pydantic import TypeAdapter
from support.strict import extras

from ferrox_gguf.errors import InvalidField, MediaNotSupported
from ferrox_gguf.events import (
    ContentDelta,
    Finish,
    OutputEvent,
    ReasoningDelta,
    Step,
    StopType,
    Timings,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from ferrox_gguf.json_types import JsonObject
from ferrox_gguf.request import Generation, Message, TextPart, ToolCall, ToolChoiceMode
from ferrox_gguf.wire.answer import Asked
from ferrox_gguf.wire.anthropic import AnthropicAnswer, anthropic_error
from ferrox_gguf.wire.anthropic_request import parse_anthropic
from ferrox_gguf.wire.errors import wire_error
from ferrox_gguf.wire.joined import join
from ferrox_gguf.wire.presentation import Presentation
from ferrox_gguf.wire.served import Served

SERVED = Served("tiny", "b1-test")
EVENTS: TypeAdapter[RawMessageStreamEvent] = TypeAdapter(RawMessageStreamEvent)


def asked() -> Asked:
    return Asked("msg_1", 1, SERVED, Generation(), Presentation(stream=True), (20,), lambda choice: "")


def steps(*events: OutputEvent, stop: StopType = StopType.EOS, word: str = "", called: bool = False) -> list[Step]:
    usage = Usage(20, 12, 7, 3)
    timings = Timings(cache_tokens=12)
    finish = Finish(stop, usage, timings, stopping_word=word, called=called)
    return [*(Step(0, (event,), timings=timings) for event in events), Step(0, timings=timings, finish=finish)]


def stream(run: Sequence[Step]) -> list[RawMessageStreamEvent]:
    answer = AnthropicAnswer(asked())
    raw = b"".join([*(answer.frames(step) for step in run), answer.done()])
    events = []
    for block in raw.decode().strip().split("\n\n"):
        name, data = block.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        events.append(EVENTS.validate_python(event, strict=True))
    return events


def whole(run: Sequence[Step]) -> AnthropicMessage:
    return AnthropicMessage.model_validate_json(AnthropicAnswer(asked()).whole(join(run, 1)), strict=True)


WRITTEN = (
    ReasoningDelta("hm"),
    ReasoningDelta("m"),
    ContentDelta("Let me "),
    ContentDelta("look."),
    ToolCallStart(0, "find", "c1"),
    ToolCallArguments(0, '{"q":'),
    ToolCallArguments(0, '"a"}'),
    ToolCallEnd(0),
    ToolCallStart(1, "ping"),
    ToolCallArguments(1, "{}"),
    ToolCallEnd(1),
)


def test_every_event_and_the_whole_message_are_what_the_clients_strict_models_take() -> None:
    run = steps(*WRITTEN, called=True)
    assert [name for event in stream(run) for name in extras(event)] == []
    assert extras(whole(run)) == []


def test_a_block_is_opened_once_for_each_passage_in_the_order_of_writing() -> None:
    starts = [event for event in stream(steps(*WRITTEN, called=True)) if event.type == "content_block_start"]
    assert [(event.index, event.content_block.type) for event in starts] == [
        (0, "thinking"),
        (1, "text"),
        (2, "tool_use"),
        (3, "tool_use"),
    ]


def test_the_streamed_blocks_joined_are_the_whole_message() -> None:
    run = steps(*WRITTEN, called=True)
    joined: dict[int, str] = {}
    for event in stream(run):
        if event.type == "content_block_delta":
            delta = event.delta.model_dump()
            text = delta.get("text") or delta.get("thinking") or delta.get("partial_json") or ""
            joined[event.index] = joined.get(event.index, "") + text
    message = whole(run)
    assert joined[0] == message.content[0].thinking == "hmm"  # type: ignore[union-attr]
    assert joined[1] == message.content[1].text == "Let me look."  # type: ignore[union-attr]
    assert json.loads(joined[2]) == message.content[2].input == {"q": "a"}  # type: ignore[union-attr]


def test_a_streamed_thought_has_the_same_signature_as_the_whole_one() -> None:
    run = steps(*WRITTEN)
    signed = [
        e.delta.signature for e in stream(run) if e.type == "content_block_delta" and e.delta.type == "signature_delta"
    ]
    assert signed == [whole(run).content[0].signature]  # type: ignore[union-attr]
    assert signed[0]


def test_tokens_read_from_the_cache_are_counted_apart() -> None:
    usage = whole(steps(ContentDelta("x"))).usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (8, 12, 7)
    first = stream(steps(ContentDelta("x")))[0]
    assert first.type == "message_start"
    assert first.message.usage.input_tokens == 8


@pytest.mark.parametrize(
    ("stop", "word", "called", "reason"),
    [
        (StopType.EOS, "", False, "end_turn"),
        (StopType.LIMIT, "", True, "max_tokens"),
        (StopType.WORD, "END", False, "stop_sequence"),
        (StopType.EOS, "", True, "tool_use"),
    ],
)
def test_the_stop_reason_tells_the_truth(stop: StopType, word: str, called: bool, reason: str) -> None:
    message = whole(steps(ContentDelta("x"), stop=stop, word=word, called=called))
    assert (message.stop_reason, message.stop_sequence) == (reason, word or None)


def test_an_answer_without_a_word_is_one_empty_text_block() -> None:
    assert [block.type for block in whole(steps()).content] == ["text"]
    kinds = [event.type for event in stream(steps())]
    assert kinds == ["message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop"]


def test_arguments_that_are_no_json_are_passed_on_as_text() -> None:
    cut = steps(
        ToolCallStart(0, "f"), ToolCallArguments(0, '{"a":"b'), ToolCallEnd(0, whole=False), stop=StopType.LIMIT
    )
    assert whole(cut).content[0].input == {"INVALID_JSON": '{"a":"b'}  # type: ignore[union-attr]


def test_an_error_has_anthropics_envelope_and_type() -> None:
    body = anthropic_error(wire_error(InvalidField("messages", "is required")))
    assert body["type"] == "error"
    assert isinstance(body["error"], dict)
    assert body["error"]["type"] == "invalid_request_error"


# -- requests


def parsed(**fields: object) -> list[Message]:
    body: JsonObject = {"messages": [], **fields}  # type: ignore[dict-item]
    return list(parse_anthropic(body, SERVED).messages)


def test_a_tool_result_stands_before_the_words_that_came_with_it() -> None:
    blocks = [{"type": "text", "text": "Here:"}, {"type": "tool_result", "tool_use_id": "t", "content": "sunny"}]
    assert parsed(messages=[{"role": "user", "content": blocks}]) == [
        Message("tool", "sunny", tool_call_id="t"),
        Message("user", (TextPart("Here:"),)),
    ]


def test_thoughts_words_and_calls_of_a_turn_are_one_message() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "…"},
        {"type": "text", "text": "On it."},
        {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
    ]
    assert parsed(messages=[{"role": "assistant", "content": blocks}]) == [
        Message("assistant", (TextPart("On it."),), reasoning="hm", tool_calls=(ToolCall("f", '{"a":1}', "t"),))
    ]


def test_a_system_prompt_is_a_string_or_blocks() -> None:
    assert parsed(system="Be kind.") == [Message("system", "Be kind.")]
    assert parsed(system=[{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]) == [
        Message("system", (TextPart("a"),))
    ]


def test_an_image_is_refused_by_name_also_inside_a_tool_result() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
    for content in ([image], [{"type": "tool_result", "tool_use_id": "t", "content": [image]}]):
        with pytest.raises(MediaNotSupported, match="image input is not supported"):
            parsed(messages=[{"role": "user", "content": content}])


def test_tools_of_anthropics_own_servers_are_left_out_and_the_rest_are_offered() -> None:
    tools = [{"type": "web_search_20250305", "name": "web_search"}, {"name": "f", "input_schema": {"type": "object"}}]
    request = parse_anthropic({"messages": [], "tools": tools, "tool_choice": {"type": "any"}}, SERVED)  # type: ignore[dict-item]
    assert [tool.name for tool in request.tools] == ["f"]
    assert request.tool_choice.mode is ToolChoiceMode.REQUIRED


def test_a_thinking_budget_switches_thinking_on_and_bounds_it() -> None:
    request = parse_anthropic({"messages": [], "thinking": {"type": "enabled", "budget_tokens": 50}}, SERVED)
    assert (request.thinking.enabled, request.thinking.budget) == (True, 50)
    assert parse_anthropic({"messages": [], "thinking": {"type": "disabled"}}, SERVED).thinking.enabled is False


def test_stop_sequences_and_the_limit_are_anthropics_and_4096_stands_for_a_missing_one() -> None:
    request = parse_anthropic({"messages": [], "stop_sequences": ["\n", ""], "stop": "x"}, SERVED)
    assert (request.generation.stop, request.generation.max_tokens) == (("\n",), 4096)


def test_messages_are_required() -> None:
    with pytest.raises(InvalidField, match="messages"):
        parse_anthropic({"max_tokens": 5}, SERVED)
