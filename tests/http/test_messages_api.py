"""Anthropic's Messages over HTTP, through the official client's own types: streamed, whole, counted and refused."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import anthropic
import httpx
import pytest
from anthropic.types import Message
from support.asking import anthropic_client as client
from support.asking import post
from support.models import PLAIN, THINKS, scripted_ready
from support.real import serving_file
from support.scripted import ByteVocabulary
from support.scripted_gguf import write_scripted_gguf
from support.serving import serving
from support.small_gguf import write_dense
from support.strict import extras

from ferrox_gguf.errors import Unavailable
from ferrox_gguf.server.app import create_app
from ferrox_gguf.server.state import Ready, ServerState
from ferrox_gguf.settings import ServerSettings, Settings

CONTROLS = ["<|im_start|>", "<|im_end|>", "<think>", "</think>"]
VOCABULARY = ByteVocabulary(control=CONTROLS, pieces=["<tool_call>"])
HI = [{"role": "user", "content": "hi"}]
TOOL = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "input_schema": {"type": "object", "properties": {"city": {"enum": ["Rome"]}}, "required": ["city"]},
}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
THOUGHT = ("I think", "</think>", "\n\n", "So.")
PROMPT = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n<think>\n"


def ready(*script: str, template: str = THINKS, settings: Settings | None = None) -> Ready:
    return scripted_ready(VOCABULARY.ids(*script), vocabulary=VOCABULARY, template=template, settings=settings)


def talk(*script: str, template: str = THINKS, settings: Settings | None = None) -> AbstractContextManager[str]:
    return serving(lambda: ready(*script, template=template, settings=settings), settings)


def agree(url: str, messages: object = HI, **fields: object) -> Message:
    """Ask both ways, see that they agree and hold nothing unknown, and return the whole message."""
    asked = {"model": "m", "max_tokens": 200, "messages": messages, **fields}
    with client(url) as official:
        whole = official.messages.create(**asked)  # type: ignore[call-overload]
        with official.messages.stream(**asked) as stream:  # type: ignore[arg-type]
            events = list(stream)
            streamed = stream.get_final_message()
    assert [name for event in events for name in extras(event)] == []
    assert extras(whole) == []
    assert isinstance(whole, Message)
    told = [[block.model_dump(exclude={"id", "parsed_output"}) for block in one.content] for one in (whole, streamed)]
    assert told[0] == told[1]
    assert (whole.stop_reason, whole.stop_sequence) == (streamed.stop_reason, streamed.stop_sequence)
    assert whole.usage.output_tokens == streamed.usage.output_tokens
    total = [one.usage.input_tokens + (one.usage.cache_read_input_tokens or 0) for one in (whole, streamed)]
    assert total[0] == total[1]
    return whole


def test_a_thought_and_an_answer_are_two_blocks() -> None:
    with talk(*THOUGHT) as url:
        answer = agree(url)
    thinking, text = answer.content
    assert thinking.type == "thinking"
    assert (thinking.thinking, bool(thinking.signature)) == ("I think", True)
    assert text.type == "text"
    assert text.text == "So."
    assert (answer.stop_reason, answer.role, answer.id[:4]) == ("end_turn", "assistant", "msg_")


def test_a_call_is_a_block_with_its_input_and_the_reason() -> None:
    with talk("hm", "</think>", "Let me look. ", CALL) as url:
        answer = agree(url, tools=[TOOL])
    assert [block.type for block in answer.content] == ["thinking", "text", "tool_use"]
    call = answer.content[2]
    assert call.type == "tool_use"
    assert (call.name, call.input, call.id[:6]) == ("get_weather", {"city": "Rome"}, "toolu_")
    assert answer.stop_reason == "tool_use"


def test_a_turn_of_tools_goes_there_and_back() -> None:
    """What the client was told is sent back as it was, with the tool's result."""
    with talk("hm", "</think>", CALL) as url:
        answer = agree(url, tools=[TOOL])
        call = answer.content[-1]
        assert call.type == "tool_use"
        result = {"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": "sunny"}]}
        sent = [
            *HI,
            {"role": "assistant", "content": [block.model_dump() for block in answer.content]},
            {"role": "user", "content": [result]},
        ]
        assert agree(url, sent, tools=[TOOL]).stop_reason == "tool_use"


def test_a_stream_is_begun_and_ended_as_documented() -> None:
    with talk(*THOUGHT) as url:
        text = post(url + "/v1/messages", {"messages": HI, "max_tokens": 50, "stream": True}).text
    names = [block.split("\n")[0].removeprefix("event: ") for block in text.strip().split("\n\n")]
    assert names[:2] == ["message_start", "content_block_start"]
    assert names[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    assert names.count("content_block_start") == names.count("content_block_stop") == 2


def test_limits_and_stop_sequences_are_told_by_their_own_reasons() -> None:
    with talk("One two three", template=PLAIN) as url:
        assert agree(url, max_tokens=3).stop_reason == "max_tokens"
        answer = agree(url, stop_sequences=["two"])
        assert (answer.stop_reason, answer.stop_sequence) == ("stop_sequence", "two")
        assert answer.content[0].text == "One "  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"system": "Be brief."},
        {"system": [{"type": "text", "text": "Be brief."}], "tools": [TOOL]},
        {"thinking": {"type": "disabled"}},
        {"messages": [*HI, {"role": "assistant", "content": "I"}]},
    ],
)
def test_counted_tokens_are_those_of_the_same_request_run(fields: dict) -> None:
    asked = {"model": "m", "messages": HI, **fields}
    with talk(*THOUGHT) as url, client(url) as official:
        counted = official.messages.count_tokens(**asked)
        answer = official.messages.create(max_tokens=5, **asked)
    assert extras(counted) == []
    assert counted.input_tokens == answer.usage.input_tokens + (answer.usage.cache_read_input_tokens or 0)


@pytest.mark.behaviour("K11")
def test_a_trailing_assistant_turn_is_continued_by_the_one_rule() -> None:
    with talk(" am.", template=PLAIN) as url:
        [text] = agree(url, [*HI, {"role": "assistant", "content": "Here I"}]).content
        assert text.text == " am."  # type: ignore[union-attr]
        refused = post(
            url + "/v1/messages",
            {"messages": [*HI, *[{"role": "assistant", "content": "a"}] * 2], "max_tokens": 5},
        )
        assert refused.status_code == 400
    flags = replace(Settings(), chat=replace(Settings().chat, prefill_assistant=False))
    seen = []

    def script(request: object) -> list[int]:
        seen.append(bytes(token for token in request.tokens if token < 256).decode())  # type: ignore[attr-defined]
        return list(b"x")

    for settings in (Settings(), flags):
        made = scripted_ready(script, vocabulary=VOCABULARY, template=PLAIN, settings=settings)
        with serving(lambda made=made: made, settings) as url:  # type: ignore[misc]
            agree(url, [*HI, {"role": "assistant", "content": "Here I"}])
    assert seen[0].endswith("[assistant]Here I")
    assert seen[-1].endswith("[assistant]Here I\n[assistant]")


def shape(answer: object) -> tuple[str, str]:
    """Anthropic's envelope: its type and its error's type."""
    body = answer.json()  # type: ignore[attr-defined]
    assert isinstance(body["error"]["message"], str)
    return body["type"], body["error"]["type"]


def test_errors_have_anthropics_shape_and_become_the_clients_exceptions() -> None:
    settings = replace(Settings(), server=replace(ServerSettings(), api_keys=("secret",)))
    with talk(*THOUGHT, settings=settings) as url:
        with client(url, "wrong") as official, pytest.raises(anthropic.AuthenticationError) as refused:
            official.messages.create(model="m", max_tokens=5, messages=HI)  # type: ignore[arg-type]
        assert refused.value.body["error"]["type"] == "authentication_error"  # type: ignore[index]
        key = {"x-api-key": "secret"}
        wrong = post(url + "/v1/messages", {"messages": 5}, **key)
        assert (wrong.status_code, shape(wrong)) == (400, ("error", "invalid_request_error"))
        broken = post(url + "/v1/messages/count_tokens", [], **key)
        assert (broken.status_code, shape(broken)) == (400, ("error", "invalid_request_error"))
        unknown = post(url + "/v1/messages/batches", {}, **key)
        assert (unknown.status_code, shape(unknown)) == (404, ("error", "not_found_error"))
        assert post(url + "/v1/other", {}, **key).json()["error"]["code"] == 404
        assert "type" not in post(url + "/v1/other", {}, **key).json()


def test_a_server_with_a_full_queue_is_overloaded_to_this_client() -> None:
    made = ready(*THOUGHT)
    made.model.engine.submit = refuse  # type: ignore[method-assign]
    with serving(lambda: made) as url:
        answer = post(url + "/v1/messages", {"messages": HI, "max_tokens": 5})
        assert (answer.status_code, shape(answer)) == (503, ("error", "overloaded_error"))


def test_a_server_that_still_loads_is_overloaded_to_this_client() -> None:
    async def ask() -> httpx.Response:
        loading = httpx.ASGITransport(app=create_app(ServerState(Settings())))
        async with httpx.AsyncClient(transport=loading, base_url="http://test") as client:
            return await client.post("/v1/messages", json={"messages": HI, "max_tokens": 5})

    answer = asyncio.run(ask())
    assert (answer.status_code, shape(answer)) == (503, ("error", "overloaded_error"))
    assert answer.json()["error"]["message"] == "Loading model"


def refuse(request: object, sink: object) -> int:
    raise Unavailable("too many requests are waiting")


def test_an_image_is_refused_by_name() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    with talk(*THOUGHT) as url:
        answer = post(url + "/v1/messages", {"messages": [{"role": "user", "content": [image]}], "max_tokens": 5})
    assert answer.status_code == 500
    assert "image input is not supported" in answer.json()["error"]["message"]


def test_a_real_model_says_its_script_and_counts_what_the_cache_held(tmp_path: Path) -> None:
    path = tmp_path / "scripted.gguf"
    script = [*"I think", "</think>", *"So."]
    tokens = len(PROMPT) - sum(len(text) - 1 for text in ("<|im_start|>", "<|im_end|>", "<|im_start|>", "<think>"))
    write_scripted_gguf(path, script=script, start=tokens, chat_template=THINKS, control=CONTROLS, end="<|im_end|>")
    with serving_file(path) as url:
        answer = agree(url, [{"role": "user", "content": "hi"}])
        assert [block.type for block in answer.content] == ["thinking", "text"]
        again = agree(url)
        assert again.usage.cache_read_input_tokens == tokens - 1
        assert again.usage.input_tokens == 1


def test_a_real_model_that_must_call_calls(tmp_path: Path) -> None:
    with serving_file(write_dense(tmp_path / "dense.gguf")) as url:
        for choice in ({"type": "any"}, {"type": "tool", "name": "get_weather"}):
            only = {**choice, "disable_parallel_tool_use": True}
            answer = agree(url, tools=[TOOL], tool_choice=only, extra_body={"temperature": 0})
            [call] = answer.content
            assert call.type == "tool_use"
            assert (call.name, call.input) == ("get_weather", {"city": "Rome"})
            assert answer.stop_reason == "tool_use"
