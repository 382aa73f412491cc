"""gpt-oss's messages."""

from __future__ import annotations

import pytest
from support.output import WEATHER, Call, family, feed, ids, joined, read, tokens

from ferrox_gguf.output.chain import OutputChain
from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.runs import Phase

GPT_OSS = family("gpt-oss")
FINAL = "<|start|>assistant<|channel|>final<|message|>"
CALL = '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Rome"}<|call|>'
ROME = [Call("get_weather", '{"city":"Rome"}', None, True)]


def streamed(text, end=End.DONE, tools=(WEATHER,)):
    out = read(GPT_OSS, text, end=end, tools=tools)
    assert read(GPT_OSS, list(text), end=end, tools=tools) == out
    return out.reasoning, out.content, out.calls


def test_analysis_is_the_thought_and_final_the_answer():
    assert streamed("<|channel|>analysis<|message|>2+2<|end|>" + FINAL + "Four.<|return|>") == ("2+2", "Four.", [])
    two = "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|>"
    assert streamed(two + FINAL + "c") == ("ab", "c", [])


def test_output_without_channels_is_content():
    assert streamed("plain words") == ("", "plain words", [])
    assert streamed(" to whom it may concern") == ("", " to whom it may concern", [])
    assert streamed("to=day or never") == ("", "to=day or never", [])


def test_commentary_without_a_recipient_is_content():
    text = "<|channel|>commentary<|message|>Looking.<|end|><|start|>assistant" + CALL
    assert streamed(text) == ("", "Looking.", ROME)


@pytest.mark.parametrize(
    "header",
    [
        "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>",
        " to=functions.get_weather<|channel|>commentary json<|message|>",
        " to=functions.get_weather<|channel|>analysis<|message|>",
        "<|channel|>commentary<|channel|>commentary to=functions.get_weather<|message|>",
    ],
)
@pytest.mark.parametrize("end", ["<|call|>", "<|end|>", ""])
def test_a_call_is_addressed_in_the_role_or_the_channel(header, end):
    assert streamed(header + '{"city": "Rome"}' + end) == ("", "", ROME)


def test_an_empty_body_is_a_call_without_arguments():
    assert streamed(CALL.replace('{"city": "Rome"}', ""))[2] == [Call("get_weather", "{}", None, True)]


def test_a_call_that_was_cut_stays_open():
    text = CALL[: CALL.index('me"}')]
    assert streamed(text, End.CUT) == ("", "", [Call("get_weather", '{"city":"Ro', None, False)])
    assert streamed(text)[2] == [Call("get_weather", '{"city":"Ro"}', None, True)]


def test_a_marker_that_is_spelled_in_an_argument_is_the_arguments():
    assert streamed(CALL.replace("Rome", 'a<|call|>\\"<|end|>'))[2][0].arguments == '{"city":"a<|call|>\\"<|end|>"}'


def test_the_body_of_a_call_that_was_not_offered_is_content_without_its_header():
    text = CALL.replace("get_weather", "get_time") + FINAL + "Well."
    assert streamed(text) == ("", '{"city": "Rome"}Well.', [])
    assert streamed(CALL, tools=()) == ("", '{"city": "Rome"}', [])
    assert streamed(CALL.replace('{"city": "Rome"}', "Rome?")) == ("", "Rome?", [])


def test_bodies_for_the_platforms_own_tools_are_dropped():
    text = "<|channel|>analysis to=python code<|message|>print(1)<|call|>" + FINAL + "1"
    assert streamed(text) == ("", "1", [])


def test_a_stray_channel_before_another_is_noise():
    assert streamed("<|channel|>commentary to=assistant<|channel|>analysis<|message|>hm") == ("hm", "", [])


def test_a_message_may_begin_without_the_end_of_the_one_before():
    text = "<|channel|>analysis<|message|>hm<|channel|>final<|message|>Four." + FINAL + " Five."
    assert streamed(text) == ("hm", "Four. Five.", [])


@pytest.mark.parametrize(
    "text", ["a <|start|> b", "a <|channel|> b <|message|> c", "x <|channel|>", "<|start|>" + "y" * 600]
)
def test_markers_that_head_no_message_are_text(text):
    assert streamed(FINAL.removeprefix("<|start|>assistant") + text) == ("", text, [])


def test_a_header_that_was_cut_is_not_shown():
    text = "<|channel|>analysis<|message|>hm<|end|>"
    for at in range(len(FINAL)):
        assert streamed(text + FINAL[:at], End.CUT) == ("hm", "", [])


def test_hermes_works_in_the_answer_too():
    hermes = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
    assert streamed(FINAL + hermes) == ("", "", ROME)
    # The form of the first call is the message's: what the other form writes after it is text.
    assert streamed(CALL + FINAL + hermes) == ("", hermes, ROME)
    assert streamed(FINAL + hermes + "<|end|><|start|>assistant" + CALL) == ("", '{"city": "Rome"}', ROME)


def test_white_space_before_a_call_goes_with_it():
    text = "<|channel|>commentary<|message|>Looking.\n\n<|end|><|start|>assistant" + CALL
    assert streamed(text) == ("", "Looking.", ROME)


MARKERS = ["<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>", "<|return|>", "<|call|>"]


def test_markers_that_are_tokens_are_read_by_id_and_their_spelling_is_text():
    parts = ["<|channel|>", "analysis", "<|message|>", "a <|end|> b", "<|end|>", "<|start|>", "assistant"]
    parts += ["<|channel|>", "final", "<|message|>", "c <|start|>assistant<|channel|>final<|message|> d"]
    chain = OutputChain(GPT_OSS, marker_tokens=ids(MARKERS))
    out = joined(feed(chain, tokens(parts, MARKERS)))
    assert (out.reasoning, out.content) == ("a <|end|> b", "c <|start|>assistant<|channel|>final<|message|> d")


def test_a_token_ends_arguments_that_are_in_the_middle_of_a_string():
    parts = [" to=functions.get_weather", "<|channel|>", "commentary", "<|message|>", '{"city": "Ro', "<|end|>"]
    parts += ["<|start|>", "assistant", "<|channel|>", "final", "<|message|>", "c"]
    chain = OutputChain(GPT_OSS, tools=[WEATHER], marker_tokens=ids(MARKERS))
    out = joined(feed(chain, tokens(parts, MARKERS)))
    assert (out.content, out.calls) == ("c", [Call("get_weather", '{"city":"Ro"}', None, True)])


def test_the_phase_is_that_of_the_message():
    chain = OutputChain(GPT_OSS)
    for text, phase in [
        ("<|channel|>ana", Phase.BEFORE),
        ("lysis<|message|>", Phase.THINKING),
        ("hm", Phase.THINKING),
        ("<|end|>", Phase.ANSWERING),
        (FINAL, Phase.ANSWERING),
    ]:
        feed_one = chain.push(tokens([text], []))
        assert feed_one is not None
        assert chain.phase is phase, text


def test_a_long_body_costs_no_more_than_its_length():
    body = '{"city": [' + '"x", ' * 100_000 + '"<|call|>"]}'
    (call,) = read(GPT_OSS, CALL.replace('{"city": "Rome"}', body), tools=(WEATHER,)).calls
    assert call.arguments == body.replace(" ", "")
