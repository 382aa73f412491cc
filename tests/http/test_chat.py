"""Conversations over real HTTP with the official client: thinking, calls, counts, streamed and not."""

import json
from dataclasses import replace

import httpx
import pytest
from support.models import PLAIN, THINKS, scripted_ready
from support.scripted import ByteVocabulary
from support.serving import serving
from support.talk import HI, Talk

from ferrox_gguf.settings import ChatSettings, ReasoningSettings, Settings

VOCABULARY = ByteVocabulary(control=["<|im_start|>", "<|im_end|>", "<think>", "</think>"], pieces=["<tool_call>"])
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
]
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
THOUGHT = ("I think", "</think>", "\n\n", "So.")


def talk(*script, template=THINKS, settings=None, vocabulary=VOCABULARY):
    ids = vocabulary.ids(*script)
    return serving(lambda: scripted_ready(ids, vocabulary=vocabulary, template=template, settings=settings), settings)


def with_chat(**fields):
    return replace(Settings(), chat=replace(ChatSettings(), **fields))


def reasoning_of(answer):
    return getattr(answer.choices[0].message, "reasoning_content", None)


@pytest.mark.behaviour("O1")
def test_the_thought_is_told_from_the_answer():
    with talk(*THOUGHT) as url:
        answer = Talk(url).agree()
        assert (reasoning_of(answer), answer.choices[0].message.content) == ("I think", "So.")
        assert answer.choices[0].finish_reason == "stop"


@pytest.mark.behaviour("O2")
def test_a_model_without_a_reasoning_format_keeps_the_tag_as_text():
    with talk("Use the tag <think> like this.", template=PLAIN, vocabulary=ByteVocabulary()) as url:
        answer = Talk(url).agree()
        assert answer.choices[0].message.content == "Use the tag <think> like this."
        assert reasoning_of(answer) is None
        assert answer.usage.completion_tokens_details is None


@pytest.mark.behaviour("C10")
def test_a_thought_that_the_prompt_opened_counts_from_its_first_token():
    with talk(*THOUGHT) as url:
        usage = Talk(url).agree().usage
        assert usage.completion_tokens_details.reasoning_tokens == len("I think") + 1
        assert usage.completion_tokens == len("I think") + 1 + len("\n\nSo.") + 1


@pytest.mark.behaviour("C7")
def test_a_thought_that_a_limit_cut_counts_whole():
    with talk(*THOUGHT) as url:
        answer = Talk(url).agree(max_tokens=5)
        assert (reasoning_of(answer), answer.choices[0].message.content) == ("I thi", "")
        assert answer.choices[0].finish_reason == "length"
        assert answer.usage.completion_tokens_details.reasoning_tokens == 5


def test_reasoning_tokens_are_summed_over_n():
    with talk(*THOUGHT) as url:
        answer = Talk(url).whole(n=2)
        assert [choice.message.content for choice in answer.choices] == ["So.", "So."]
        assert answer.usage.completion_tokens_details.reasoning_tokens == 2 * (len("I think") + 1)


@pytest.mark.behaviour("O7")
def test_a_thought_and_two_calls_leave_no_content():
    with talk("hm", "</think>", "\n\n", CALL, "\n", CALL) as url:
        answer = Talk(url).agree(tools=TOOLS)
        message = answer.choices[0].message
        assert (message.content, reasoning_of(answer)) == (None, "hm")
        assert [call.function.arguments for call in message.tool_calls] == ['{"city":"Rome"}'] * 2
        assert len({call.id for call in message.tool_calls}) == 2
        assert answer.choices[0].finish_reason == "tool_calls"


def test_a_call_that_a_limit_cut_is_not_one_to_execute():
    with talk("</think>", CALL) as url:
        answer = Talk(url).agree(tools=TOOLS, max_tokens=55)
        assert answer.choices[0].finish_reason == "length"
        (call,) = answer.choices[0].message.tool_calls
        assert '{"city":"Rome"}'.startswith(call.function.arguments)
        assert call.function.arguments != '{"city":"Rome"}'


@pytest.mark.behaviour("O8")
@pytest.mark.parametrize("fields", [{}, {"tools": TOOLS, "tool_choice": "none"}])
def test_without_tools_to_call_the_text_comes_untouched(fields):
    with talk("</think>", CALL) as url:
        answer = Talk(url).agree(**fields)
        assert answer.choices[0].message.content == CALL
        assert answer.choices[0].message.tool_calls is None


@pytest.mark.behaviour("O9")
def test_tools_offered_and_a_plain_answer_is_a_plain_answer():
    with talk("</think>", "Sunny.") as url:
        answer = Talk(url).agree(tools=TOOLS)
        assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == ("Sunny.", "stop")
        assert reasoning_of(answer) is None


@pytest.mark.behaviour("O10")
def test_a_tool_that_was_not_offered_stays_content():
    other = CALL.replace("get_weather", "launch")
    with talk("</think>", other) as url:
        answer = Talk(url).agree(tools=TOOLS)
        assert answer.choices[0].message.content == other
        assert answer.choices[0].message.tool_calls is None


def test_a_stop_string_acts_on_the_answer_and_not_on_the_thought():
    with talk("say stop now", "</think>", "go stop here") as url:
        answer = Talk(url).agree(stop=["stop"])
        assert (reasoning_of(answer), answer.choices[0].message.content) == ("say stop now", "go ")
        assert answer.choices[0].finish_reason == "stop"


@pytest.mark.parametrize("display", ["none", "deepseek", "auto", "deepseek-legacy"])
def test_the_thought_is_shown_where_it_is_asked_for(display):
    with talk("hm", "</think>", "\n", "So.") as url:
        answer = Talk(url).agree(extra_body={"reasoning_format": display})
        content = answer.choices[0].message.content
        if display in ("auto", "deepseek"):
            assert (content, reasoning_of(answer)) == ("So.", "hm")
        else:
            # The prompt wrote the opener, which a reader of the content needs as much as the closer.
            assert content == "<think>\nhm</think>\nSo."
            assert reasoning_of(answer) == (None if display == "none" else "hm")
        assert answer.usage.completion_tokens_details.reasoning_tokens == len("hm") + 1


def test_the_flag_says_where_the_thought_is_shown_and_the_request_wins():
    flags = with_chat(reasoning=replace(ReasoningSettings(), display=ReasoningSettings().display.NONE))
    with talk("hm", "</think>", "So.", settings=flags) as url:
        assert reasoning_of(Talk(url).whole()) is None
        assert reasoning_of(Talk(url).whole(extra_body={"reasoning_format": "deepseek"})) == "hm"


def test_chat_parsing_can_be_switched_off():
    with talk("hm", "</think>", CALL, settings=with_chat(skip_parsing=True)) as url:
        answer = Talk(url).agree(tools=TOOLS)
        assert answer.choices[0].message.content.endswith(CALL)
        assert reasoning_of(answer) is None
        assert answer.choices[0].message.tool_calls is None


def prompt_of(url, **body):
    return httpx.post(url + "/apply-template", json={"messages": HI, **body}).json()


def test_the_prompt_can_be_seen_and_counted_without_running_it():
    with talk() as url:
        prompt = prompt_of(url)["prompt"]
        assert prompt == "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n<think>\n"
        counted = httpx.post(url + "/v1/chat/completions/input_tokens", json={"messages": HI}).json()
        assert counted["input_tokens"] == Talk(url).whole().usage.prompt_tokens


@pytest.mark.behaviour("K2")
@pytest.mark.behaviour("K11")
def test_a_trailing_assistant_message_is_continued_unless_somebody_says_otherwise():
    history = [*HI, {"role": "assistant", "content": "So, I"}]
    template = PLAIN
    with talk(template=template, vocabulary=ByteVocabulary()) as url:
        assert prompt_of(url, messages=history)["prompt"].endswith("[assistant]So, I")
        closed = prompt_of(url, messages=history, continue_final_message=False)["prompt"]
        assert closed.endswith("[assistant]So, I\n[assistant]")
    with talk(template=template, vocabulary=ByteVocabulary(), settings=with_chat(prefill_assistant=False)) as url:
        assert prompt_of(url, messages=history)["prompt"].endswith("[assistant]So, I\n[assistant]")
        named = prompt_of(url, messages=history, continue_final_message="content")["prompt"]
        assert named.endswith("[assistant]So, I")


@pytest.mark.behaviour("K6")
def test_a_continued_thought_goes_on_where_it_stood():
    history = [*HI, {"role": "assistant", "reasoning_content": "Let me think about"}]
    with talk(" this.", "</think>", "Because.") as url:
        answer = Talk(url).agree(messages=history)
        assert (reasoning_of(answer), answer.choices[0].message.content) == (" this.", "Because.")
        assert prompt_of(url, messages=history)["prompt"].count("<think>") == 1


@pytest.mark.behaviour("K6")
def test_a_continued_answer_is_all_content():
    history = [*HI, {"role": "assistant", "reasoning_content": "thought", "content": "Because"}]
    with talk(" it is so.") as url:
        answer = Talk(url).agree(messages=history)
        assert (reasoning_of(answer), answer.choices[0].message.content) == (None, " it is so.")
        assert prompt_of(url, messages=history)["prompt"].endswith("<think>thought</think>Because")


@pytest.mark.behaviour("K8")
@pytest.mark.behaviour("K10")
def test_a_refused_continuation_says_what_to_do_and_an_implied_one_names_both_ways_out():
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    history = [*HI, {"role": "assistant", "tool_calls": [call]}]
    with talk() as url:
        asked = httpx.post(url + "/v1/chat/completions", json={"messages": history, "continue_final_message": True})
        implied = httpx.post(url + "/v1/chat/completions", json={"messages": history})
        assert asked.status_code == implied.status_code == 501
        assert asked.json()["error"]["type"] == "not_supported_error"
        words = implied.json()["error"]["message"]
        assert words.startswith(asked.json()["error"]["message"])
        assert "continue_final_message: false" in words
        assert "--no-prefill-assistant" in words


@pytest.mark.behaviour("K9")
@pytest.mark.parametrize(
    "body",
    [
        {"messages": [], "continue_final_message": True},
        {"messages": HI, "continue_final_message": True},
        {"messages": [*HI, {"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}]},
        {
            "messages": [*HI, {"role": "assistant", "content": "a"}],
            "continue_final_message": True,
            "add_generation_prompt": True,
        },
    ],
)
def test_a_continuation_that_makes_no_sense_is_a_400(body):
    with talk(template=PLAIN) as url:
        answer = httpx.post(url + "/v1/chat/completions", json=body)
        assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


def test_a_template_that_refuses_is_quoted():
    refuses = "{{ raise_exception('Roles must alternate') }}"
    with talk(template=refuses) as url:
        answer = httpx.post(url + "/v1/chat/completions", json={"messages": HI})
        assert answer.status_code == 400
        assert "Roles must alternate" in answer.json()["error"]["message"]


def test_a_stream_is_server_sent_events_that_end_with_done():
    with talk(*THOUGHT) as url:
        answer = httpx.post(url + "/v1/chat/completions", json={"messages": HI, "stream": True})
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in answer.text.split("\n\n") if line]
        assert lines[-1] == "data: [DONE]"
        first = json.loads(lines[0].removeprefix("data: "))
        assert first["choices"][0]["delta"] == {"role": "assistant", "content": None}


def test_a_budget_closes_the_thought_with_its_message_and_counts_what_it_forced():
    with talk("I think and think", "</think>", "So.") as url:
        body = {"reasoning_budget_tokens": 7, "reasoning_budget_message": " Enough."}
        answer = Talk(url).agree(extra_body=body)
        assert reasoning_of(answer) == "I think Enough."
        # The script goes on as if nothing had happened; what it says is the answer now.
        assert answer.choices[0].message.content.startswith(" and think")
        assert answer.usage.completion_tokens_details.reasoning_tokens == len("I think Enough.") + 1


def test_the_budget_of_the_flag_holds_unless_the_request_has_its_own():
    flags = with_chat(reasoning=replace(ReasoningSettings(), budget=0))
    with talk("hm", "</think>", "So.", settings=flags) as url:
        assert reasoning_of(Talk(url).whole()) is None
        assert reasoning_of(Talk(url).whole(extra_body={"thinking_budget_tokens": 100})) == "hm"


def test_a_running_thought_can_be_ended_from_outside():
    def make():
        ready = scripted_ready(VOCABULARY.ids("hm" * 200), vocabulary=VOCABULARY, template=THINKS)
        ready.model.engine.pause = 0.02
        return ready

    with serving(make) as url:
        stream = Talk(url).client.chat.completions.create(
            model="m", messages=HI, stream=True, max_tokens=60, extra_body={"reasoning_control": True}
        )
        said = {"reasoning": "", "content": ""}
        for chunk in stream:
            if not said["reasoning"] and getattr(chunk.choices[0].delta, "reasoning_content", None):
                order = {"id": chunk.id, "action": "reasoning_end"}
                assert httpx.post(url + "/v1/chat/completions/control", json=order).json() == {"success": True}
            said["reasoning"] += getattr(chunk.choices[0].delta, "reasoning_content", None) or ""
            said["content"] += chunk.choices[0].delta.content or ""
        assert 0 < len(said["reasoning"]) < 59
        assert said["content"]


@pytest.mark.parametrize(
    ("order", "status", "said"),
    [
        (
            {"id": "x", "action": "reasoning_end"},
            200,
            {"success": False, "message": "no active completion for this id"},
        ),
        ({"action": "reasoning_end"}, 400, None),
        ({"id": "x", "action": "jump"}, 400, None),
    ],
)
def test_an_order_for_nothing_does_nothing(order, status, said):
    with talk() as url:
        answer = httpx.post(url + "/v1/chat/completions/control", json=order)
        assert answer.status_code == status
        assert said is None or answer.json() == said


def test_one_call_only_when_calls_may_not_be_parallel():
    with talk("</think>", CALL, "\n", CALL) as url:
        answer = Talk(url).agree(tools=TOOLS, parallel_tool_calls=False)
        assert len(answer.choices[0].message.tool_calls) == 1
        assert answer.choices[0].finish_reason == "tool_calls"


def test_echo_repeats_the_message_that_is_continued():
    history = [*HI, {"role": "assistant", "reasoning_content": "thought", "content": "Because"}]
    with talk(" it is so.") as url:
        answer = Talk(url).agree(messages=history, extra_body={"echo": True})
        assert (reasoning_of(answer), answer.choices[0].message.content) == ("thought", "Because it is so.")
        assert answer.usage.completion_tokens_details.reasoning_tokens == 0
