"""The shapes of messages and tools that real clients send, as the template is shown them in the end."""

import json

import pytest
from support.models import PLAIN
from support.speaking import QWEN3, WEATHER, calls_of, chat, function, post, prompt_of, reasoning_of, saying
from support.talk import HI, Talk
from support.templates import template

QWEN25 = template("Qwen-Qwen2.5-7B-Instruct")
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}
CALLED = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "20 degrees"}
MINISTRAL = "mistralai-Ministral-3-14B-Reasoning-2512"
MISSING = object()


def message(role, content, **fields):
    return {"role": role, **({} if content is MISSING else {"content": content}), **fields}


def parts(*texts):
    return [{"type": "text", "text": text} for text in texts]


@pytest.fixture(scope="module")
def url():
    with saying("ok", template=QWEN25) as url:
        yield url


@pytest.mark.parametrize("content", [None, "", [], MISSING], ids=["null", "empty", "no parts", "missing"])
@pytest.mark.parametrize(
    "name", ["Qwen-Qwen3-0.6B", "GLM-4.6", "MiniMax-M2", "mistralai-Ministral-3-14B-Reasoning-2512"]
)
def test_beside_calls_no_content_is_no_content_whatever_says_so(content, name):
    with saying("ok", template=template(name)) as url:
        history = [*HI, message("assistant", content, tool_calls=[CALL]), RESULT]
        prompt = prompt_of(url, history, tools=[WEATHER])
        assert prompt == prompt_of(url, [*HI, message("assistant", "", tool_calls=[CALL]), RESULT], tools=[WEATHER])
        assert "None" not in prompt
        assert "get_weather" in prompt
        assert chat(url, messages=history, tools=[WEATHER]).status_code == 200


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant", "tool"])
def test_parts_are_a_text_in_any_role(url, role):
    def prompt(content):
        turns = {
            "system": [message("system", content), *HI],
            "developer": [message("developer", content), *HI],
            "user": [message("user", content)],
            "assistant": [*HI, message("assistant", content), *HI],
            "tool": [*HI, message("assistant", None, tool_calls=[CALL]), {**RESULT, "content": content}],
        }
        return prompt_of(url, turns[role], tools=[WEATHER])

    assert prompt(parts("one", "two")) == prompt("one\ntwo")
    assert prompt(parts("one")) == prompt("one")


@pytest.mark.parametrize("kind", ["text", "input_text", "output_text"])
def test_the_part_types_of_other_dialects_are_text_too(url, kind):
    assert "hello" in prompt_of(url, [message("user", [{"type": kind, "text": "hello"}])])


def test_an_image_for_a_model_that_reads_text_is_refused_in_those_words(url):
    answer = chat(url, messages=[message("user", [{"type": "image_url", "image_url": {"url": "data:,"}}])])
    assert answer.status_code in (400, 500, 501)
    assert "image" in answer.json()["error"]["message"]


def test_a_developer_is_a_system_message(url):
    texts = [prompt_of(url, [message(role, "Be brief."), *HI]) for role in ("developer", "system")]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("name", ["Qwen3.5-4B", "google-gemma-2-2b-it", "mistralai-Mistral-Nemo-Instruct-2407"])
def test_a_late_system_message_is_kept_where_the_template_takes_it(role, name):
    with saying("ok", template=template(name)) as url:
        history = [message("system", "First."), *HI, message("assistant", "Yes?"), message(role, "Late."), *HI]
        prompt = prompt_of(url, history)
        assert prompt.count("First.") == prompt.count("Late.") == 1
        assert chat(url, messages=history).status_code == 200


@pytest.mark.parametrize(
    "tool",
    [
        function("now"),
        function("now", {}),
        function("now", None, description="What time is it"),
        function("now", {"type": "object"}),
        function("now", {"type": "object", "properties": {}}),
    ],
    ids=["bare", "empty parameters", "no parameters", "object", "no properties"],
)
@pytest.mark.parametrize("name", ["Qwen-Qwen2.5-7B-Instruct", "CohereForAI-c4ai-command-r-plus-tool_use", "GLM-4.6"])
def test_a_tool_may_be_no_more_than_a_name(tool, name):
    text = {
        "Qwen-Qwen2.5-7B-Instruct": '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
        "CohereForAI-c4ai-command-r-plus-tool_use": 'Action: ```json\n[{"tool_name": "now", "parameters": {}}]```',
        "GLM-4.6": "<tool_call>now\n</tool_call>",
    }[name]
    with saying(*text, template=template(name)) as url:
        answer = Talk(url).agree(tools=[tool])
        assert calls_of(answer) == [("now", "{}")]
        assert "now" in prompt_of(url, tools=[tool])


def test_no_tools_in_a_list_is_as_no_list(url):
    assert prompt_of(url, tools=[]) == prompt_of(url) == prompt_of(url, tools=None)
    assert chat(url, tools=[], tool_choice="auto").status_code == 200
    assert chat(url, tools=[], tool_choice="none", parallel_tool_calls=True).status_code == 200


@pytest.mark.parametrize("arguments", ['{"city": "Rome"}', '{"city":"Rome"}', {"city": "Rome"}])
def test_arguments_may_be_text_or_an_object(url, arguments):
    call = {**CALL, "function": {"name": "get_weather", "arguments": arguments}}
    assert CALLED in prompt_of(url, [*HI, message("assistant", None, tool_calls=[call]), RESULT], tools=[WEATHER])


@pytest.mark.parametrize("arguments", ["", None, MISSING, {}])
def test_no_arguments_are_an_empty_object(url, arguments):
    made = {"name": "get_weather"} if arguments is MISSING else {"name": "get_weather", "arguments": arguments}
    history = [*HI, message("assistant", None, tool_calls=[{**CALL, "function": made}]), RESULT]
    assert '{"name": "get_weather", "arguments": {}}' in prompt_of(url, history, tools=[WEATHER])


def test_arguments_that_were_cut_are_shown_and_not_refused(url):
    call = {**CALL, "function": {"name": "get_weather", "arguments": '{"city": "Ro'}}
    history = [*HI, message("assistant", None, tool_calls=[call]), RESULT]
    assert "Ro" in prompt_of(url, history, tools=[WEATHER])
    assert chat(url, messages=history, tools=[WEATHER]).status_code == 200


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Qwen-Qwen3-0.6B", "<think>\nhm\n</think>"),
        ("openai-gpt-oss-120b", "<|channel|>analysis<|message|>hm<|end|>"),
        (MINISTRAL, "[THINK]hm[/THINK]"),
        ("upstage-Solar-Open-100B", "<|think|>hm<|end|>"),
    ],
)
def test_an_earlier_thought_is_replayed_where_the_template_wants_it(field, name, shown):
    with saying("ok", template=template(name)) as url:
        history = [*HI, message("assistant", None, tool_calls=[CALL], **{field: "hm"}), RESULT]
        assert shown in prompt_of(url, history, tools=[WEATHER])


def test_results_answer_their_calls_by_id_in_any_order(url):
    calls = [{**CALL, "id": name} for name in ("a", "b")]
    results = [message("tool", f"result {name}", tool_call_id=name) for name in ("b", "a")]
    prompt = prompt_of(url, [*HI, message("assistant", None, tool_calls=calls), *results], tools=[WEATHER])
    assert prompt.index("result a") < prompt.index("result b")


@pytest.mark.parametrize("stream", [False, True])
def test_a_templates_own_objection_is_a_400_in_its_words(stream):
    refuses = "{% if 'secret' in messages[-1].content %}{{ raise_exception('No secrets!') }}{% endif %}" + PLAIN
    secret = [message("user", "a secret")]
    with saying("ok", template=refuses) as url:
        answer = chat(url, messages=secret, stream=stream)
        assert answer.status_code == 400
        assert answer.json()["error"]["type"] == "invalid_request_error"
        assert "No secrets!" in answer.json()["error"]["message"]
        assert post(url, "/apply-template", {"messages": secret}).status_code == 400
        assert chat(url).status_code == 200


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        (None, "messages"),
        ("hi", "messages"),
        ([{"content": "hi"}], "role"),
        ([{"role": "user"}], "content"),
        ([{"role": "user", "content": 5}], "content"),
        ([{"role": "user", "content": [{"type": "text"}]}], "text"),
        ([{"role": "user", "content": [{"type": "poem", "text": "x"}]}], "poem"),
        ([*HI, {"role": "assistant", "tool_calls": "x"}], "tool_calls"),
        ([*HI, {"role": "assistant", "tool_calls": [{"type": "function"}]}], "function"),
        ([*HI, {"role": "assistant", "content": "", "reasoning_content": 5}], "reasoning_content"),
    ],
)
def test_what_is_no_message_is_a_400_that_names_the_field(url, messages, field):
    answer = chat(url, messages=messages)
    assert answer.status_code == 400
    assert field in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": "x"},
        {"tools": [{"type": "function"}]},
        {"tools": [{"type": "web_search"}]},
        {"tools": [function("")]},
        {"tools": [function("f", "x")]},
        {"tools": [WEATHER], "tool_choice": "some"},
        {"tools": [WEATHER], "tool_choice": {"type": "function", "function": {"name": "launch"}}},
        {"tools": [WEATHER], "parallel_tool_calls": "yes"},
    ],
    ids=str,
)
def test_what_is_no_tool_or_choice_is_a_400(url, fields):
    answer = chat(url, **fields)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


def test_a_template_without_tools_is_taught_the_hermes_form():
    text = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
    with saying(*text, template=PLAIN) as url:
        prompt = prompt_of(url, tools=[WEATHER])
        assert "<tool_call>" in prompt
        assert json.dumps("get_weather") in prompt
        assert calls_of(Talk(url).agree(tools=[WEATHER])) == [("get_weather", '{"city":"Rome"}')]
        history = [*HI, message("assistant", None, tool_calls=[CALL]), RESULT]
        assert "20 degrees" in prompt_of(url, history, tools=[WEATHER])
        assert "<tool_call>" not in prompt_of(url, tools=[WEATHER], tool_choice="none")


def test_a_thought_is_none_where_the_model_wrote_none():
    with saying("ok", template=QWEN3) as url:
        answer = Talk(url).agree()
        assert reasoning_of(answer) is None
        assert "reasoning_content" not in chat(url).json()["choices"][0]["message"]
