"""Thinking on and off in every spelling, how hard and how long, and where a thought is shown."""

from dataclasses import replace

import httpx
import pytest
from support.models import PLAIN
from support.playing_lines import as_script, padded, playing
from support.scripted_gguf import Line
from support.speaking import QWEN3, R1, WEATHER, calls_of, chat, heard, prompt_of, reasoning_of, saying
from support.speech import SPEECH, Atem, Harmony
from support.talk import HI, Talk
from support.templates import template

from ferrox_gguf.request import ReasoningDisplay
from ferrox_gguf.settings import ChatSettings, ReasoningSettings, Settings

QWEN35 = template("Qwen3.5-4B")
OPEN, CLOSED = "<|im_start|>assistant\n<think>\n", "<|im_start|>assistant\n<think>\n\n</think>\n\n"
OFF = [
    {"chat_template_kwargs": {"enable_thinking": False}},
    {"chat_template_kwargs": {"reasoning_effort": "none"}},
    {"enable_thinking": False},
    {"reasoning_effort": "none"},
    {"reasoning": {"enabled": False}},
    {"reasoning": {"effort": "none"}},
    {"think": False},
    {"think": "none"},
]
ON = [
    {"chat_template_kwargs": {"enable_thinking": True}},
    {"enable_thinking": True},
    {"reasoning": {"enabled": True}},
    {"think": True},
    {"think": "high"},
]


def with_reasoning(**fields):
    return Settings(chat=ChatSettings(reasoning=replace(ReasoningSettings(), **fields)))


@pytest.fixture(scope="module")
def url():
    with saying("x", template=QWEN35) as url:
        yield url


@pytest.fixture(scope="module")
def off_by_flag():
    with saying("x", template=QWEN35, settings=with_reasoning(enabled=False)) as url:
        yield url


def test_thinking_is_on_unless_somebody_says_otherwise(url, off_by_flag):
    assert prompt_of(url).endswith(OPEN)
    assert prompt_of(off_by_flag).endswith(CLOSED)


@pytest.mark.parametrize("fields", OFF, ids=str)
def test_it_can_be_turned_off_in_every_spelling(url, fields):
    assert prompt_of(url, **fields).endswith(CLOSED)


@pytest.mark.parametrize("fields", ON, ids=str)
def test_a_request_turns_on_what_the_flag_turned_off(off_by_flag, fields):
    assert prompt_of(off_by_flag, **fields).endswith(OPEN)


@pytest.mark.parametrize("field", [field for field in OFF if "chat_template_kwargs" not in field], ids=str)
def test_template_keywords_win_over_the_requests_other_fields(url, field):
    assert prompt_of(url, **field, chat_template_kwargs={"enable_thinking": True}).endswith(OPEN)


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning_effort": "high"},
        {"reasoning": {"effort": "high"}},
        {"think": "high"},
        {"chat_template_kwargs": {"reasoning_effort": "high"}},
        {"reasoning_effort": "high", "reasoning": {"effort": "low"}, "think": "low"},
    ],
    ids=str,
)
def test_effort_reaches_a_template_that_takes_it(fields):
    with saying("x", template=template("openai-gpt-oss-120b"), settings=with_reasoning(effort="low")) as url:
        assert "Reasoning: high" in prompt_of(url, **fields)
        assert "Reasoning: low" in prompt_of(url)


@pytest.mark.parametrize(
    "fields",
    [
        {"enable_thinking": "yes"},
        {"think": 1},
        {"reasoning": {"enabled": "no"}},
        {"reasoning_effort": 3},
        {"reasoning_budget_tokens": "many"},
        {"reasoning_budget_tokens": -2},
        {"reasoning_format": "pretty"},
        {"chat_template_kwargs": {"enable_thinking": "false"}},
        {"chat_template_kwargs": "x"},
    ],
    ids=str,
)
def test_a_value_that_means_nothing_is_a_400(url, fields):
    answer = chat(url, **fields)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


@pytest.mark.parametrize("name", ["reasoning_budget_tokens", "thinking_budget_tokens"])
@pytest.mark.parametrize("budget", [0, 1, 5])
def test_a_budget_in_either_name_closes_the_thought_after_so_many_tokens(name, budget):
    thought = "abcdefgh"
    with saying(*thought, template=QWEN35, control=("<think>", "</think>")) as url:
        body = {name: budget, "reasoning_budget_message": "Stop."}
        answer = Talk(url).agree(extra_body=body)
        assert heard(answer) == (f"{thought[:budget]}Stop.", thought[budget:])
        # The forced message and closer were tokens like any other.
        assert answer.usage.completion_tokens_details.reasoning_tokens == budget + len("Stop.") + 1
        assert answer.usage.completion_tokens == len(thought) + len("Stop.") + 2


def test_the_budget_of_the_reasoning_object_counts_too():
    with saying(*"abcdef", template=QWEN35) as url:
        assert heard(Talk(url).agree(extra_body={"reasoning": {"max_tokens": 2}})) == ("ab", "cdef")


def test_a_thought_within_its_budget_and_an_answer_without_one_are_left_alone():
    with saying(*"ab</think>\nSo.", template=QWEN35) as url:
        assert heard(Talk(url).agree(extra_body={"reasoning_budget_tokens": 20})) == ("ab", "So.")
    with saying(*"A long answer", template=QWEN3) as url:
        assert heard(Talk(url).agree(extra_body={"reasoning_budget_tokens": 1})) == (None, "A long answer")


@pytest.mark.parametrize(("budget", "kept"), [(1, "推"), (2, "推"), (3, "推"), (4, "推理"), (6, "推理"), (7, "推理🦀")])
def test_a_budget_never_cuts_a_character(budget, kept):
    with saying("推理🦀 more".encode(), template=QWEN35) as url:
        answer = Talk(url).agree(extra_body={"reasoning_budget_tokens": budget})
        assert reasoning_of(answer) == kept
        # Every byte is a token here, those of the closer too.
        assert answer.usage.completion_tokens_details.reasoning_tokens == len(kept.encode()) + len("</think>")


THINKING = [
    name
    for name, speech in SPEECH.items()
    # ATEM has nothing that ends a thought by itself; that MiMo thinks is told by its name, which no test here has.
    if speech.thinks and not isinstance(speech, Atem) and name != "MiMo-VL"
]


@pytest.mark.parametrize("name", THINKING)
def test_every_format_can_be_closed_and_is_read_on_from_there(name):
    speech = SPEECH[name]
    with saying("x", template=template(name)) as url:
        opened = speech.opener and prompt_of(url).rstrip().endswith(speech.opener.strip())
    # A line break behind `<think>` would be a token of the thought; in Gemma's marker it is the marker's.
    written = "<|channel|>analysis<|message|>" if isinstance(speech, Harmony) else speech.opener
    opener = "" if opened else written.replace("<think>\n", "<think>")
    with saying(*f"{opener}abcdef", template=template(name)) as url:
        body = {"reasoning_budget_tokens": 3, "reasoning_budget_message": " Stop."}
        answer = Talk(url).agree(extra_body=body)
        assert heard(answer) == ("abc Stop.", "def")
        counted = answer.usage.completion_tokens_details.reasoning_tokens
        closer = "<|end|>" if isinstance(speech, Harmony) else speech.closer.strip()
        assert counted == len((opener + "abc Stop." + closer).encode())


def test_a_budget_is_kept_by_the_engine_too(tmp_path):
    said = "A thought that has no end at all, and goes on"
    line = Line(200, [as_script(bytes([byte])) for byte in said.encode()])
    special = ("<think>", "</think>")
    with (
        playing(tmp_path / "m.gguf", [line], template=QWEN35, special=special) as url,
        httpx.Client(verify=False) as client,
    ):
        body = {"reasoning_budget_tokens": 9, "reasoning_budget_message": " is cut."}
        messages = padded(client, url, line, {"messages": [{"role": "user", "content": "hi"}]})
        answer = Talk(url).agree(messages=messages, temperature=0, extra_body={**body, "cache_prompt": False})
        assert reasoning_of(answer) == "A thought is cut."
        # What the model would have said meanwhile was written over.
        assert answer.choices[0].message.content == said[len("A thought is cut.") + 1 :]
        assert answer.usage.completion_tokens_details.reasoning_tokens == len("A thought is cut.") + 1


def test_without_a_reasoning_format_there_is_no_budget():
    with saying(*"abcdef", template=PLAIN) as url:
        assert heard(Talk(url).agree(extra_body={"reasoning_budget_tokens": 2})) == (None, "abcdef")


RAW = [("none", None), ("deepseek-legacy", "hm")]


@pytest.mark.parametrize(("display", "reasoning"), RAW)
@pytest.mark.parametrize(
    ("model", "text", "content"),
    [
        (R1, "hm</think>\nSo.", "<think>\nhm</think>\nSo."),
        (QWEN3, "<think>\nhm\n</think>\n\nSo.", "<think>\nhm\n</think>\n\nSo."),
        (QWEN35, "hm</think>So.", "<think>\nhm</think>So."),
    ],
    ids=["opened by the prompt", "opened by the model", "real template"],
)
def test_where_the_thought_is_content_both_of_its_markers_are_there(display, reasoning, model, text, content):
    with saying(*text, template=model) as url:
        answer = Talk(url).agree(extra_body={"reasoning_format": display})
        assert heard(answer) == (reasoning, content)
    flags = with_reasoning(display=ReasoningDisplay(display))
    with saying(*text, template=model, settings=flags) as url:
        assert heard(Talk(url).agree()) == (reasoning, content)
        assert heard(Talk(url).agree(extra_body={"reasoning_format": "auto"})) == ("hm", "So.")


def test_calls_are_found_where_the_thought_is_content():
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
    with saying(*f"<think>hm</think>\n{call}", template=QWEN3) as url:
        answer = Talk(url).agree(tools=[WEATHER], extra_body={"reasoning_format": "none"})
        assert calls_of(answer) == [("get_weather", '{"city":"Rome"}')]
        assert answer.choices[0].message.content == "<think>hm</think>"


@pytest.mark.parametrize(
    ("display", "said"),
    [
        ("deepseek", ("say stop now", "go ")),
        ("deepseek-legacy", ("say stop now", "<think>say stop now</think>go ")),
        ("none", (None, "<think>say ")),
    ],
)
def test_stop_strings_act_on_what_is_not_reasoning(display, said):
    with saying(*"<think>say stop now</think>go stop here", template=QWEN3) as url:
        answer = Talk(url).agree(stop="stop", extra_body={"reasoning_format": display})
        assert heard(answer) == said
        assert answer.choices[0].finish_reason == "stop"


def test_a_stop_string_inside_a_call_leaves_a_cut_call():
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome, stop"}}\n</tool_call>'
    with saying(*call, template=QWEN3) as url:
        answer = Talk(url).agree(tools=[WEATHER], stop=["stop"])
        assert answer.choices[0].finish_reason == "length"
        assert calls_of(answer) == [("get_weather", '{"city":"Rome, ')]


def test_length_wins_over_tool_calls():
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
    with saying(*call, *"\nand more", template=QWEN3) as url:
        answer = Talk(url).agree(tools=[WEATHER], max_tokens=len(call) + 3)
        assert answer.choices[0].finish_reason == "length"
        assert calls_of(answer) == [("get_weather", '{"city":"Rome"}')]


def test_a_conversation_can_be_answered_n_times():
    with saying(*"<think>ab</think>So.", template=QWEN3) as url:
        answer = chat(url, messages=HI, n=3).json()
        assert [choice["index"] for choice in answer["choices"]] == [0, 1, 2]
        assert {choice["message"]["reasoning_content"] for choice in answer["choices"]} == {"ab"}
        spent = len("<think>ab</think>")
        assert answer["usage"]["completion_tokens_details"]["reasoning_tokens"] == 3 * spent
