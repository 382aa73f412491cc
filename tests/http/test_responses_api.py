"""OpenAI's Responses over HTTP, through the official client's own types: streamed, whole, counted and refused."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import openai
import pytest
from openai.types.responses import Response
from support.asking import openai_client as client
from support.asking import post
from support.models import PLAIN, THINKS, scripted_ready
from support.real import serving_file
from support.scripted import ByteVocabulary
from support.scripted_gguf import write_scripted_gguf
from support.serving import serving
from support.small_gguf import write_dense
from support.strict import extras

from ferrox_gguf.settings import ServerSettings, Settings

CONTROLS = ["<|im_start|>", "<|im_end|>", "<think>", "</think>"]
VOCABULARY = ByteVocabulary(control=CONTROLS, pieces=["<tool_call>"])
TOOL = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"enum": ["Rome"]}}, "required": ["city"]},
    "strict": True,
}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
THOUGHT = ("I think", "</think>", "\n\n", "So.")
PROMPT = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n<think>\n"
LLAMA_SERVERS = {"timings"}
"""On the last event of a stream llama-server's clients read it; the official client's models ignore it."""


def talk(*script: str, template: str = THINKS, settings: Settings | None = None) -> AbstractContextManager[str]:
    ids = VOCABULARY.ids(*script)
    return serving(lambda: scripted_ready(ids, vocabulary=VOCABULARY, template=template, settings=settings), settings)


def agree(url: str, given: object = "hi", **fields: object) -> Response:
    """Ask both ways, see that they agree and hold nothing unknown, and return the whole response."""
    with client(url) as official:
        whole = official.responses.create(model="m", input=given, **fields)  # type: ignore[call-overload]
        with official.responses.stream(model="m", input=given, **fields) as stream:  # type: ignore[call-overload]
            events = list(stream)
            streamed = stream.get_final_response()
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert {name for event in events for name in extras(event)} <= LLAMA_SERVERS
    assert extras(whole) == []
    assert isinstance(whole, Response)
    hidden = {"id", "call_id", "parsed_arguments"}
    told = [[item.model_dump(exclude=hidden) for item in one.output] for one in (whole, streamed)]
    for item in told[1]:
        for part in item.get("content") or ():
            part.pop("parsed", None)
    assert told[0] == told[1]
    assert whole.status == streamed.status
    assert whole.usage is not None
    assert streamed.usage is not None
    assert whole.usage.output_tokens_details == streamed.usage.output_tokens_details
    assert whole.usage.total_tokens == streamed.usage.total_tokens
    return whole


@pytest.mark.behaviour("C11")
def test_a_thought_is_an_item_of_its_own_and_counted() -> None:
    with talk(*THOUGHT) as url:
        answer = agree(url)
        chat = post(url + "/v1/chat/completions", {"messages": [{"role": "user", "content": "hi"}]}).json()
    assert [item.type for item in answer.output] == ["reasoning", "message"]
    assert answer.output_text == "So."
    assert answer.output[0].content[0].text == "I think"  # type: ignore[union-attr, index]
    assert (answer.status, answer.error, answer.incomplete_details) == ("completed", None, None)
    assert answer.usage is not None
    counted = answer.usage.output_tokens_details.reasoning_tokens
    assert counted == chat["usage"]["completion_tokens_details"]["reasoning_tokens"] > 0
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens


@pytest.mark.behaviour("C11")
def test_a_model_without_a_reasoning_format_counts_no_reasoning_token() -> None:
    with talk("plain", template=PLAIN) as url:
        usage = agree(url).usage
    assert usage is not None
    assert usage.output_tokens_details.reasoning_tokens == 0


def test_a_call_goes_out_and_its_result_comes_back() -> None:
    with talk("hm", "</think>", "Let me look. ", CALL) as url:
        answer = agree(url, tools=[TOOL])
        assert [item.type for item in answer.output] == ["reasoning", "message", "function_call"]
        call = answer.output[2]
        assert call.type == "function_call"
        assert (call.name, call.arguments, bool(call.call_id)) == ("get_weather", '{"city":"Rome"}', True)
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}
        sent = [{"role": "user", "content": "hi"}, *[item.to_dict() for item in answer.output], result]
        assert agree(url, sent, tools=[TOOL]).status == "completed"


def test_what_agents_send_for_openais_own_servers_is_left_out() -> None:
    items = [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"role": "user", "content": "hi"},
    ]
    tools = [TOOL, {"type": "web_search"}, {"type": "custom", "name": "apply_patch", "format": {"type": "text"}}]
    body = {"model": "m", "input": items, "tools": tools, "include": ["reasoning.encrypted_content"], "store": False}
    with talk(*THOUGHT) as url:
        for path in ("/responses", "/v1/responses"):
            answer = post(url + path, {**body, "prompt_cache_key": "k", "service_tier": "auto"})
            assert answer.status_code == 200
            assert [tool["name"] for tool in answer.json()["tools"]] == ["get_weather"]


def test_a_limit_makes_it_incomplete() -> None:
    with talk("One two three", template=PLAIN) as url:
        answer = agree(url, max_output_tokens=3)
    assert answer.status == "incomplete"
    assert answer.incomplete_details is not None
    assert answer.incomplete_details.reason == "max_output_tokens"
    assert answer.output_text == "One"


def test_the_response_repeats_what_was_asked() -> None:
    with talk(*THOUGHT) as url:
        asked = {"instructions": "Be kind.", "temperature": 0.25, "metadata": {"a": "b"}, "max_output_tokens": 77}
        answer = agree(url, **asked, tools=[TOOL], tool_choice="auto")
    assert (answer.instructions, answer.temperature, answer.metadata) == ("Be kind.", 0.25, {"a": "b"})
    assert (answer.max_output_tokens, answer.tool_choice, answer.model) == (77, "auto", "scripted")


@pytest.mark.parametrize(
    "fields",
    [
        {"input": "hi"},
        {"input": [{"role": "user", "content": "hi"}], "instructions": "Be brief."},
        {"input": "hi", "tools": [TOOL]},
        {"input": "hi", "reasoning": {"effort": "none"}},
        {"input": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "I"}]},
    ],
)
def test_counted_tokens_are_those_of_the_same_request_run(fields: dict) -> None:
    with talk(*THOUGHT) as url, client(url) as official:
        counted = official.responses.input_tokens.count(model="m", **fields)
        answer = official.responses.create(model="m", **fields)
        other = post(url + "/responses/input_tokens", fields).json()
    assert extras(counted) == []
    assert counted.input_tokens == answer.usage.input_tokens == other["input_tokens"]
    assert counted.object == "response.input_tokens"


def test_chat_counts_what_it_runs_under_both_paths() -> None:
    body = {"messages": [{"role": "user", "content": "hi"}]}
    with talk(*THOUGHT) as url:
        answer = post(url + "/v1/chat/completions", body).json()
        for path in ("/chat/completions/input_tokens", "/v1/chat/completions/input_tokens"):
            assert post(url + path, body).json()["input_tokens"] == answer["usage"]["prompt_tokens"]


@pytest.mark.behaviour("K11")
def test_a_trailing_assistant_turn_is_continued_by_the_one_rule() -> None:
    seen: list[str] = []

    def script(request: object) -> list[int]:
        seen.append(bytes(token for token in request.tokens if token < 256).decode())  # type: ignore[attr-defined]
        return list(b" am.")

    given = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Here I"}]
    flags = replace(Settings(), chat=replace(Settings().chat, prefill_assistant=False))
    for settings, end in ((Settings(), "[assistant]Here I"), (flags, "[assistant]Here I\n[assistant]")):
        made = scripted_ready(script, vocabulary=VOCABULARY, template=PLAIN, settings=settings)
        with serving(lambda made=made: made, settings) as url:  # type: ignore[misc]
            assert agree(url, given).output_text == " am."
            assert seen[-1].endswith(end)
            closed = post(url + "/v1/responses", {"input": given, "continue_final_message": False})
            assert closed.status_code == 200
            assert seen[-1].endswith("[assistant]Here I\n[assistant]")


@pytest.mark.parametrize("name", ["previous_response_id", "conversation"])
def test_what_would_need_a_store_is_refused_by_name(name: str) -> None:
    with talk(*THOUGHT) as url:
        answer = post(url + "/v1/responses", {"input": "hi", name: "resp_1"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")
    assert name in answer.json()["error"]["message"]


def test_errors_become_the_clients_exceptions() -> None:
    settings = replace(Settings(), server=replace(ServerSettings(), api_keys=("secret",)))
    with talk(*THOUGHT, settings=settings) as url, client(url) as official:
        with pytest.raises(openai.AuthenticationError):
            official.responses.create(model="m", input="hi")
        official.api_key = "secret"
        with pytest.raises(openai.BadRequestError, match="input"):
            official.responses.create(model="m", input=5)  # type: ignore[arg-type]


def test_a_real_model_says_its_script(tmp_path: Path) -> None:
    path = tmp_path / "scripted.gguf"
    tokens = len(PROMPT) - sum(len(text) - 1 for text in ("<|im_start|>", "<|im_end|>", "<|im_start|>", "<think>"))
    script = [*"I think", "</think>", *"So."]
    write_scripted_gguf(path, script=script, start=tokens, chat_template=THINKS, control=CONTROLS, end="<|im_end|>")
    with serving_file(path) as url:
        answer = agree(url, extra_body={"cache_prompt": False})
        assert answer.output_text == "So."
        assert answer.usage is not None
        assert (answer.usage.input_tokens, answer.usage.output_tokens_details.reasoning_tokens) == (tokens, 8)


def test_a_real_model_writes_the_format_that_is_asked_for(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"city": {"enum": ["Rome"]}}, "required": ["city"]}
    form = {"format": {"type": "json_schema", "name": "place", "schema": {**schema, "additionalProperties": False}}}
    with serving_file(write_dense(tmp_path / "dense.gguf")) as url:
        answer = agree(url, text=form, temperature=0.0, max_output_tokens=300)
        assert json.loads(answer.output_text) == {"city": "Rome"}
        call = agree(url, tools=[TOOL], tool_choice="required", parallel_tool_calls=False, temperature=0.0).output[-1]
        assert call.type == "function_call"
        assert (call.name, call.arguments) == ("get_weather", '{"city":"Rome"}')
