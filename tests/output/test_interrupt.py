"""Calls inside a thought that was not closed (wire formats, section 0, calls 8)."""

from __future__ import annotations

import pytest
from support.output import OPEN, WEATHER, family, feed, joined, pieces, read, tokens

from ferrox_gguf.output.chain import OutputChain
from ferrox_gguf.output.interrupt import QUOTATION
from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.runs import Phase

QWEN35 = family("qwen3.5")


def call(city="Rome"):
    return f"<tool_call>\n<function=get_weather>\n<parameter=city>\n{city}\n</parameter>\n</function>\n</tool_call>"


def streamed(text, posture=QWEN35, end=End.DONE):
    out = read(posture, text, OPEN, end, tools=[WEATHER])
    assert read(posture, list(text), OPEN, end, tools=[WEATHER]) == out
    assert read(posture, [text[at : at + 300] for at in range(0, len(text), 300)], OPEN, end, tools=[WEATHER]) == out
    return out.reasoning, out.content, [call.arguments for call in out.calls]


def test_a_whole_call_at_the_end_of_an_open_thought_is_a_call():
    assert streamed(f"I need it.\n{call()}") == ("I need it.", "", ['{"city":"Rome"}'])
    assert streamed(f"Two.{call()}\n{call('Bari')}") == ("Two.", "", ['{"city":"Rome"}', '{"city":"Bari"}'])
    assert streamed(f"I need it.{call()}", end=End.CUT) == ("I need it.", "", ['{"city":"Rome"}'])


def test_a_call_that_is_quoted_before_the_closer_stays_in_the_thought():
    text = f"I could write {call()} but no."
    assert streamed(f"{text}</think>Hello.") == (text, "Hello.", [])


@pytest.mark.parametrize(("padding", "is_call"), [(0, False), (1, True)])
def test_a_closer_counts_up_to_512_bytes_behind_the_marker(padding, is_call):
    quoted = call()
    gap = "é" * ((QUOTATION - len(quoted) - len("</think>")) // 2)
    gap += "x" * (QUOTATION - len(quoted) - len("</think>") - len(gap.encode()) + padding)
    reasoning, content, calls = streamed(f"a {quoted}{gap}</think>Hello.")
    if is_call:
        assert (reasoning, content, calls) == ("a", f"{gap}</think>Hello.", ['{"city":"Rome"}'])
    else:
        assert (reasoning, content, calls) == (f"a {quoted}{gap}", "Hello.", [])


def test_a_long_calls_arguments_may_hold_the_closer():
    city = "x" * 600 + "</think>" + "y"
    assert streamed(f"a{call(city)}") == ("a", "", [f'{{"city":"{city}"}}'])


def test_a_call_that_was_cut_is_part_of_the_thought():
    text = call()[: call().index("Rome") + 2]
    assert streamed(f"a {text}", end=End.CUT) == (f"a {text}", "", [])
    assert streamed(f"a {text}") == ("a", "", ['{"city":"Ro"}'])


@pytest.mark.parametrize(
    "text",
    [
        call().replace("get_weather", "get_time"),
        "<tool_call> is how one calls",
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>',
        "<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>",
    ],
)
def test_what_is_no_call_of_the_families_own_form_stays_reasoning(text):
    assert streamed(f"a {text}") == (f"a {text}", "", [])
    assert streamed(f"a {text}{'x' * 600}</think>b") == (f"a {text}{'x' * 600}", "b", [])


def test_behind_a_marker_that_began_no_call_the_next_one_is_tried():
    assert streamed(f"a <tool_call> b {call()}") == ("a <tool_call> b", "", ['{"city":"Rome"}'])


def test_families_without_that_habit_keep_calls_in_the_thought():
    text = 'a <tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
    assert streamed(text, family("qwen3")) == (text, "", [])


def test_kimi_may_begin_with_the_section_or_the_call():
    one = '<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Rome"}<|tool_call_end|>'
    for text in (one, f"<|tool_calls_section_begin|>{one}<|tool_calls_section_end|>"):
        assert streamed(f"a{text}", family("kimi-k2-thinking")) == ("a", "", ['{"city":"Rome"}'])


def test_a_held_call_is_out_once_it_is_whole_and_cannot_have_been_quoted():
    chain = OutputChain(QWEN35, OPEN, tools=[WEATHER])
    assert chain.push(pieces("a")) != []
    assert chain.push(pieces(call())) == []
    assert chain.phase is Phase.THINKING
    assert chain.push(pieces("x" * QUOTATION)) != []
    assert chain.phase is Phase.ANSWERING


def test_a_thought_of_nothing_but_markers_takes_no_time_to_speak_of():
    text = "<tool_call><function=get_time>" * 4000
    assert read(QWEN35, text, OPEN, tools=[WEATHER]).reasoning == text


def test_control_tokens_of_the_syntax_reach_a_call_on_trial():
    markers = ["<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>", "<|x|>"]
    parts = ["a", markers[0], "functions.get_weather:0", markers[1], '{"city": "Ro', markers[3], 'me"}', markers[2]]
    chain = OutputChain(family("kimi-k2-thinking"), OPEN, tools=[WEATHER])
    out = joined(feed(chain, tokens(parts, markers)))
    assert (out.reasoning, [call.arguments for call in out.calls]) == ("a", ['{"city":"Ro<|x|>me"}'])


def test_a_quoted_tool_marker_stays_in_the_thought_though_it_is_a_control_token():
    markers = ["[TOOL_CALLS]", "[ARGS]", "[/THINK]", "<|x|>"]
    parts = ["maybe ", markers[0], "ping", markers[1], "{}", markers[3], markers[2], "No."]
    chain = OutputChain(family("magistral"), OPEN, tools=[WEATHER], marker_tokens={"[/THINK]": 2})
    out = joined(feed(chain, tokens(parts, markers)))
    assert (out.reasoning, out.content) == ("maybe [TOOL_CALLS]ping[ARGS]{}", "No.")
