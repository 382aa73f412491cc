"""OpenAI's chat answers, whole and in chunks."""

import json

import pytest
from support.answers import asked, events, finish

from ferrox_gguf.errors import GenerationFailed
from ferrox_gguf.events import (
    Candidate,
    ContentDelta,
    Progress,
    ReasoningDelta,
    Step,
    StopType,
    Timings,
    TokenInfo,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)
from ferrox_gguf.wire.chat import ChatAnswer
from ferrox_gguf.wire.errors import wire_error
from ferrox_gguf.wire.joined import join

CALL = (ToolCallStart(0, "f", "id"), ToolCallArguments(0, '{"a":'), ToolCallArguments(0, "1}"), ToolCallEnd(0))


def stream(*steps, **fields):
    answer = ChatAnswer(asked(**fields))
    return events(b"".join(answer.frames(step) for step in steps) + answer.done())


def whole(*steps, choices=1, **fields):
    return json.loads(ChatAnswer(asked(choices=choices, **fields)).whole(join(steps, choices)))


def deltas(chunks):
    return [chunk["choices"][0]["delta"] for chunk in chunks if chunk != "[DONE]" and chunk["choices"]]


def test_the_first_chunk_carries_the_role_and_no_other_does():
    said = deltas(stream(Step(0, (ContentDelta("a"),)), Step(0, (ContentDelta("b"),), finish=finish())))
    assert said == [{"role": "assistant", "content": None}, {"content": "a"}, {"content": "b"}, {}]


def test_a_step_that_shows_nothing_sends_nothing():
    answer = ChatAnswer(asked())
    answer.frames(Step(0, (ContentDelta("a"),)))
    assert answer.frames(Step(0, tokens=(7,))) == b""


def test_thought_answer_and_calls_come_in_the_order_of_the_model():
    said = deltas(stream(Step(0, (ReasoningDelta("t"), ContentDelta("c"), *CALL), finish=finish(called=True))))
    assert said[1:] == [
        {"reasoning_content": "t"},
        {"content": "c"},
        {"tool_calls": [{"index": 0, "id": "id", "type": "function", "function": {"name": "f", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"a":'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]},
        {},
    ]


def test_all_chunks_of_a_stream_have_one_id_and_name_their_model():
    chunks = stream(Step(0, (ContentDelta("a"),)), Step(0, finish=finish()))[:-1]
    assert {(c["id"], c["model"], c["object"], c["created"], c["system_fingerprint"]) for c in chunks} == {
        ("chatcmpl-1", "m", "chat.completion.chunk", 5, "b1")
    }


def test_a_stream_ends_with_its_reason_and_done():
    chunks = stream(Step(0, (ContentDelta("a"),)), Step(0, finish=finish()))
    assert chunks[-1] == "[DONE]"
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[:-1]] == [None, None, "stop"]


@pytest.mark.parametrize(
    ("stop", "called", "whole_call", "reason"),
    [
        (StopType.EOS, False, True, "stop"),
        (StopType.WORD, False, True, "stop"),
        (StopType.LIMIT, False, True, "length"),
        (StopType.EOS, True, True, "tool_calls"),
        (StopType.LIMIT, True, True, "length"),
        (StopType.WORD, True, False, "length"),
    ],
)
def test_a_limit_always_wins_and_a_cut_call_is_none_to_execute(stop, called, whole_call, reason):
    calls = (ToolCallStart(0, "f"), ToolCallArguments(0, "{}"), ToolCallEnd(0, whole_call)) if called else ()
    step = Step(0, calls, finish=finish(stop, called=called))
    assert stream(step)[-2]["choices"][0]["finish_reason"] == reason
    assert whole(step)["choices"][0]["finish_reason"] == reason


def test_usage_comes_in_a_chunk_without_choices_when_asked_for():
    chunks = stream(Step(0, finish=finish(reasoning=2)), include_usage=True)
    assert chunks[-2]["choices"] == []
    assert chunks[-2]["usage"] == {
        "completion_tokens": 4,
        "prompt_tokens": 3,
        "total_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    assert chunks[-2]["timings"]["predicted_n"] == 4
    assert all("usage" not in chunk for chunk in stream(Step(0, finish=finish()))[:-1])


@pytest.mark.behaviour("C6")
def test_without_a_reasoning_format_there_is_no_number_of_reasoning_tokens():
    assert "completion_tokens_details" not in whole(Step(0, finish=finish()))["usage"]
    assert whole(Step(0, finish=finish(reasoning=0)))["usage"]["completion_tokens_details"] == {"reasoning_tokens": 0}


def test_usage_sums_completions_and_reasoning_over_n_and_counts_the_prompt_once():
    steps = [Step(choice, finish=finish(reasoning=choice + 1)) for choice in range(3)]
    usage = whole(*steps, choices=3, n=3)["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (3, 12)
    assert usage["completion_tokens_details"] == {"reasoning_tokens": 6}


def test_a_whole_message_is_the_joined_stream():
    steps = (Step(0, (ReasoningDelta("t"), ReasoningDelta("u"))), Step(0, (ContentDelta("c"), *CALL), finish=finish()))
    message = whole(*steps)["choices"][0]["message"]
    assert message == {
        "role": "assistant",
        "content": "c",
        "reasoning_content": "tu",
        "tool_calls": [{"id": "id", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}],
    }


def test_content_is_null_beside_calls_and_empty_otherwise():
    assert whole(Step(0, CALL, finish=finish()))["choices"][0]["message"]["content"] is None
    assert whole(Step(0, finish=finish()))["choices"][0]["message"]["content"] == ""


def test_every_call_has_an_id_and_no_two_have_the_same():
    calls = [
        event
        for index, name in enumerate(["same", "same", None, None])
        for event in (ToolCallStart(index, "f", name), ToolCallEnd(index))
    ]
    ids = [call["id"] for call in whole(Step(0, tuple(calls), finish=finish()))["choices"][0]["message"]["tool_calls"]]
    assert ids[:2] == ["same", "same_2"]
    assert len(set(ids)) == 4
    assert all(ids)


def info(text):
    return TokenInfo(Candidate(1, text.encode(), -0.5), (Candidate(1, text.encode(), -0.5),))


def test_probabilities_of_held_tokens_ride_on_the_next_chunk():
    chunks = stream(
        Step(0, (ContentDelta("a"),), infos=(info("a"),)),
        Step(0, infos=(info("b"),)),
        Step(0, (ContentDelta("bc"),), infos=(info("c"),)),
        Step(0, finish=finish()),
    )
    tokens = [[one["token"] for one in c["choices"][0].get("logprobs", {}).get("content", [])] for c in chunks[:-1]]
    assert tokens == [[], ["a"], ["b", "c"], []]


def test_timings_come_with_each_token_when_asked_for_but_not_with_the_role():
    chunks = stream(Step(0, (ContentDelta("a"),), timings=Timings(predicted_tokens=1)), timings_per_token=True)
    assert ["timings" in chunk for chunk in chunks[:-1]] == [False, True]


def test_progress_is_reported_before_the_first_token():
    steps = [Step(0, progress=Progress(10, 2, done, 1.5)) for done in (2, 10)]
    chunks = stream(*steps, Step(0, (ContentDelta("a"),), finish=finish()))
    assert [chunk["prompt_progress"]["processed"] for chunk in chunks[:2]] == [2, 10]
    assert deltas(chunks)[0]["role"] == "assistant"
    assert sum("role" in delta for delta in deltas(chunks)) == 1


def test_choices_are_told_apart_by_their_index():
    chunks = stream(*(Step(c, (ContentDelta("a"),), finish=finish()) for c in (1, 0)), choices=2, n=2)
    assert [chunk["choices"][0]["index"] for chunk in chunks[:-1]] == [1, 1, 1, 0, 0, 0]


def test_verbose_shows_the_native_object():
    body = whole(Step(0, (ContentDelta("a"),), finish=finish()), verbose=True)
    assert body["__verbose"]["prompt"] == "prompt 0"
    assert "__verbose" not in whole(Step(0, finish=finish()))


def test_a_stream_that_breaks_says_so_in_its_last_event():
    frame = ChatAnswer(asked()).failed(wire_error(GenerationFailed("decode failed")))
    assert events(frame) == [{"error": {"code": 500, "message": "decode failed", "type": "server_error"}}]


def test_probabilities_of_a_stop_string_are_not_shown():
    steps = (
        Step(0, (ContentDelta("a"),), infos=(info("a"),)),
        Step(0, infos=(info("st"),)),
        Step(0, infos=(info("op"),), finish=finish(StopType.WORD)),
    )
    chunks = stream(*steps)
    streamed = [one["token"] for c in chunks[:-1] for one in c["choices"][0].get("logprobs", {}).get("content", [])]
    joined = [one["token"] for one in whole(*steps)["choices"][0]["logprobs"]["content"]]
    assert streamed == joined == ["a"]
