"""C1 to C12 over HTTP: what `usage` says was spent on thinking, whole and streamed."""

import pytest
from support.models import PLAIN
from support.speaking import QWEN3, R1, WEATHER, chat, saying
from support.talk import Talk
from support.templates import template

MULLING = ("<|channel>", "thought\n", "x", "<channel|>")
ANALYSIS = ("<|channel|>", "analysis", "<|message|>", "2", "+2", "<|end|>")


def counted(answer):
    return answer.usage.completion_tokens_details.reasoning_tokens


@pytest.mark.parametrize(
    ("script", "count"),
    [
        pytest.param(["<think>", "ab", "</think>", "answer"], 3, marks=pytest.mark.behaviour("C1")),
        pytest.param(["<think>", "a", "b", "</think>", "answer"], 4, marks=pytest.mark.behaviour("C3")),
        pytest.param(
            ["<think>", "a", "<", "/th", "ink", "!", "</think>", "answer"], 7, marks=pytest.mark.behaviour("C2")
        ),
        pytest.param(["<think>", "a", "<", "/th", "ink>", "answer"], 5, marks=pytest.mark.behaviour("C4")),
        pytest.param(["hello", " world"], 0, marks=pytest.mark.behaviour("C5")),
        pytest.param(["<think>", "a", "</think>answer", " more"], 3, marks=pytest.mark.behaviour("C8")),
        pytest.param(
            ["<think>", "  ", "a", "  ", "</think>", "  ", "answer", "  "], 5, marks=pytest.mark.behaviour("C9")
        ),
        pytest.param(["\n", " ", "<think>", "a", "</think>", "answer"], 5, id="white space before the opener counts"),
        pytest.param(["<think>", "a", "</think>", "\n\n", "answer"], 3, id="layout behind the closer does not"),
    ],
)
def test_the_tokens_up_to_the_answer_are_reasoning(script, count):
    with saying(*script, template=QWEN3) as url:
        answer = Talk(url).agree()
        assert counted(answer) == count
        assert answer.usage.completion_tokens == len(script) + 1


@pytest.mark.behaviour("C6")
def test_without_a_reasoning_format_the_json_has_no_such_field():
    with saying("<think>", "a", "</think>", "answer", template=PLAIN) as url:
        assert "completion_tokens_details" not in chat(url).json()["usage"]
        assert Talk(url).agree().usage.completion_tokens_details is None


@pytest.mark.behaviour("C7")
@pytest.mark.parametrize(("limit", "count"), [(4, 4), (2, 2), (1, 1)])
def test_when_the_limit_comes_in_the_thought_everything_was_thinking(limit, count):
    with saying("<think>", "a", "b", "c", "d", "</think>", "answer", template=QWEN3) as url:
        answer = Talk(url).agree(max_tokens=limit)
        assert (counted(answer), answer.choices[0].finish_reason) == (count, "length")


@pytest.mark.behaviour("C10")
def test_a_block_that_the_prompt_opened_counts_from_the_first_token():
    with saying("a", "b", "</think>", "answer", template=R1) as url:
        assert counted(Talk(url).agree()) == 3


@pytest.mark.behaviour("C12")
@pytest.mark.parametrize(
    ("name", "script", "count"),
    [
        (
            "google-gemma-4-31B-it-interleaved",
            [
                "A.",
                "<|channel>",
                "thought\n",
                "x",
                "<channel|>",
                "B",
                "<|channel>",
                "thought\n",
                "y",
                "<channel|>",
                "C",
            ],
            8,
        ),
        (
            "ibm-granite-granite-3.3-2B-Instruct",
            ["<think>", "a", "</think>", "<response>", "Fine", ".", "</response>"],
            3,
        ),
        (
            "openai-gpt-oss-120b",
            [*ANALYSIS, "<|start|>", "assistant", "<|channel|>", "final", "<|message|>", "Four"],
            6,
        ),
    ],
)
def test_an_answer_that_is_no_suffix_counts_what_was_thought_and_its_markup(name, script, count):
    with saying(*script, template=template(name)) as url:
        assert counted(Talk(url).agree()) == count


@pytest.mark.behaviour("C12")
def test_a_call_that_interrupts_a_thought_is_not_reasoning():
    call = ["<tool_call>", "\n<function=get_weather>", "\n<parameter=city>", "\nRome\n", "</parameter>\n"]
    script = ["a", "b", "\n", *call, "</function>\n", "</tool_call>"]
    with saying(*script, template=template("Qwen3.5-4B")) as url:
        answer = Talk(url).agree(tools=[WEATHER])
        assert counted(answer) == 3
        assert answer.choices[0].finish_reason == "tool_calls"


def test_a_limit_of_no_token_counts_none():
    with saying("<think>", "a", "</think>", "b", template=QWEN3) as url:
        usage = chat(url, max_tokens=0).json()["usage"]
        assert usage["completion_tokens"] == 0
        assert usage["completion_tokens_details"]["reasoning_tokens"] == 0
