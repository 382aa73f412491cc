"""OpenAI's Responses: requests, and answers as the official client's own types read them."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from openai.types.responses import Response, ResponseStreamEvent
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
from ferrox_gguf.request import Message, TextPart, ToolCall, ToolChoiceMode
from ferrox_gguf.wire.answer import Asked
from ferrox_gguf.wire.errors import wire_error
from ferrox_gguf.wire.joined import join
from ferrox_gguf.wire.presentation import Presentation
from ferrox_gguf.wire.responses import ResponsesAnswer
from ferrox_gguf.wire.responses_request import parse_echo, parse_responses
from ferrox_gguf.wire.served import Served

SERVED = Served("tiny", "b1-test")
EVENTS: TypeAdapter[ResponseStreamEvent] = TypeAdapter(ResponseStreamEvent)
TOOL = {"type": "function", "name": "find", "parameters": {"type": "object"}, "strict": True}


def answer() -> ResponsesAnswer:
    body: JsonObject = {"input": "hi", "tools": [TOOL], "max_output_tokens": 9}
    request = parse_responses(body, SERVED)
    asked = Asked("resp_1", 1, SERVED, request.generation, Presentation(stream=True), (20,), lambda choice: "")
    return ResponsesAnswer(asked, parse_echo(body, request))


def steps(*events: OutputEvent, stop: StopType = StopType.EOS, called: bool = False, thinks: bool = True) -> list[Step]:
    timings = Timings(cache_tokens=12)
    finish = Finish(stop, Usage(20, 12, 7, 3 if thinks else None), timings, called=called)
    return [*(Step(0, (event,), timings=timings) for event in events), Step(0, timings=timings, finish=finish)]


def frames(raw: bytes) -> list[dict[str, object]]:
    return [json.loads(block.split("\n")[1].removeprefix("data: ")) for block in raw.decode().strip().split("\n\n")]


def stream(run: Sequence[Step]) -> list[ResponseStreamEvent]:
    made = answer()
    raw = b"".join([*(made.frames(step) for step in run), made.done()])
    return [EVENTS.validate_python(event, strict=True) for event in frames(raw)]


def whole(run: Sequence[Step]) -> Response:
    return Response.model_validate_json(answer().whole(join(run, 1)))


WRITTEN = (
    ReasoningDelta("hm"),
    ReasoningDelta("m"),
    ContentDelta("Let me "),
    ContentDelta("look."),
    ToolCallStart(0, "find", "c1"),
    ToolCallArguments(0, '{"q":'),
    ToolCallArguments(0, '"a"}'),
    ToolCallEnd(0),
)


def test_every_event_and_the_whole_response_are_what_the_clients_models_know() -> None:
    run = steps(*WRITTEN, called=True)
    # `timings` on the last event is llama-server's addition, which its own clients read.
    assert {name for event in stream(run) for name in extras(event)} == {"timings"}
    assert extras(whole(run)) == []


def test_events_come_in_the_documented_order_with_their_numbers() -> None:
    events = stream(steps(*WRITTEN, called=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [event.type.removeprefix("response.") for event in events] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "reasoning_text.delta",
        "reasoning_text.delta",
        "reasoning_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]


def test_the_last_event_holds_what_a_request_without_a_stream_gets() -> None:
    run = steps(*WRITTEN, called=True)
    last = stream(run)[-1]
    assert last.type == "response.completed"

    def told(response: Response) -> list[object]:
        return [item.model_dump(exclude={"id"}) for item in response.output]

    assert told(last.response) == told(whole(run))
    assert last.response.output_text == "Let me look."


@pytest.mark.behaviour("C11")
def test_reasoning_tokens_are_the_counted_ones_and_zero_only_for_a_model_without_a_format() -> None:
    for thinks, count in ((True, 3), (False, 0)):
        usage = whole(steps(ContentDelta("x"), thinks=thinks)).usage
        assert usage is not None
        assert usage.output_tokens_details.reasoning_tokens == count


def test_a_limit_makes_the_response_and_its_last_item_incomplete() -> None:
    run = steps(ContentDelta("x"), stop=StopType.LIMIT)
    last = stream(run)[-1]
    # OpenAI's would be response.incomplete; llama-server's clients wait for this one, and so does the client's helper.
    assert last.type == "response.completed"
    for response in (last.response, whole(run)):
        assert response.status == "incomplete"
        assert response.incomplete_details is not None
        assert response.incomplete_details.reason == "max_output_tokens"
        assert response.output[-1].status == "incomplete"  # type: ignore[union-attr]


def test_a_stream_that_breaks_ends_with_a_failed_response() -> None:
    made = answer()
    made.frames(steps(ContentDelta("x"))[0])
    last = [EVENTS.validate_python(event) for event in frames(made.failed(wire_error(RuntimeError("boom"))))]
    assert [event.type for event in last] == ["error", "response.failed"]


# -- requests


def parsed(*items: object, **fields: object) -> list[Message]:
    return list(parse_responses({"input": list(items), **fields}, SERVED).messages)  # type: ignore[dict-item]


def test_the_items_of_an_assistants_turn_become_one_message() -> None:
    items = (
        {"role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "reasoning", "id": "rs", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "On it."}]},
        {"type": "function_call", "call_id": "c", "name": "find", "arguments": "{}"},
        {"type": "function_call", "call_id": "d", "name": "find", "arguments": '{"a":1}'},
        {"type": "function_call_output", "call_id": "c", "output": "found"},
    )
    assert parsed(*items) == [
        Message("user", (TextPart("go"),)),
        Message(
            "assistant",
            (TextPart("On it."),),
            reasoning="hm",
            tool_calls=(ToolCall("find", "{}", "c"), ToolCall("find", '{"a":1}', "d")),
        ),
        Message("tool", "found", tool_call_id="c"),
    ]


def test_instructions_are_the_first_system_message() -> None:
    assert parsed("hi", instructions="Be kind.") == [Message("system", "Be kind."), Message("user", "hi")]


def test_unknown_items_and_tools_are_left_out() -> None:
    request = parse_responses(
        {
            "input": [{"type": "web_search_call", "id": "w"}, {"role": "user", "content": "hi"}],
            "tools": [{"type": "web_search"}, {"type": "custom", "name": "apply_patch"}, TOOL],
            "tool_choice": {"type": "function", "name": "find"},
        },
        SERVED,
    )
    assert request.messages == (Message("user", "hi"),)
    assert [tool.name for tool in request.tools] == ["find"]
    assert request.tool_choice.mode is ToolChoiceMode.NAMED


@pytest.mark.parametrize("name", ["previous_response_id", "conversation"])
def test_state_that_this_server_does_not_keep_is_refused_by_name(name: str) -> None:
    with pytest.raises(InvalidField) as refused:
        parse_responses({"input": "hi", name: "resp_0"}, SERVED)
    assert refused.value.field == name


def test_a_schema_stands_beside_its_type_in_text_format() -> None:
    text = {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}}
    request = parse_responses({"input": "hi", "text": text}, SERVED)  # type: ignore[dict-item]
    assert request.generation.grammar is not None
    assert request.generation.grammar.source == '{"type":"object"}'


def test_an_image_is_refused_by_name() -> None:
    with pytest.raises(MediaNotSupported, match="image"):
        parsed({"role": "user", "content": [{"type": "input_image", "image_url": "data:"}]})
