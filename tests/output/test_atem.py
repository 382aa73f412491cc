"""muse-glimmer's messages."""

from __future__ import annotations

import pytest
from support.output import OPEN, UNOPENED, WEATHER, Call, family, feed, ids, joined, read, tokens

from ferrox_gguf.output.chain import OutputChain
from ferrox_gguf.output.pieces import End

MUSE = family("muse-glimmer")
BODY = (
    '<atem:function_calls>\n<atem:invoke name="get_weather">\n<atem:parameter name="city">Rome</atem:parameter>\n'
    "</atem:invoke>\n</atem:function_calls>"
)
ROME = [Call("get_weather", '{"city":"Rome"}', None, True)]


def streamed(text, state=OPEN, end=End.DONE, tools=(WEATHER,)):
    out = read(MUSE, text, state, end, tools=tools)
    assert read(MUSE, list(text), state, end, tools=tools) == out
    return out.reasoning, out.content, out.calls


def test_the_recipient_says_what_a_message_is():
    thought = " to=self<|message|>let me see<|eom|><|start|>assistant"
    assert streamed(f"{thought} to=user<|message|>Yes.<|eot|>") == ("let me see", "Yes.", [])
    assert streamed(f"{thought}<|message|>Yes.<|eot|>") == ("let me see", "Yes.", [])
    assert streamed(f"{thought} to=get_weather<|message|>{BODY}<|eot|>") == ("let me see", "", ROME)
    assert streamed("<|message|>Plain.<|end_of_text|>") == ("", "Plain.", [])


def test_calls_are_separate_messages_and_all_are_returned():
    one = f" to=get_weather<|message|>{BODY}<|eom|>"
    assert streamed(f"{one}<|start|>assistant{one}") == ("", "", ROME * 2)


@pytest.mark.parametrize("recipient", ["user", "self"])
def test_markup_that_is_quoted_is_text(recipient):
    reasoning, content, calls = streamed(f" to={recipient}<|message|>Like: {BODY}<|eot|>")
    assert (reasoning + content, calls) == (f"Like: {BODY}", [])


def test_a_doubled_name_is_the_offered_one():
    doubled = BODY.replace("get_weather", "get_weather.get_weather")
    assert streamed(f" to=get_weather.get_weather<|message|>{doubled}<|eot|>") == ("", "", ROME)


def test_the_body_of_a_call_that_was_not_offered_is_content_without_its_header():
    other = BODY.replace("get_weather", "get_time")
    assert streamed(f" to=get_time<|message|>{other}<|eot|>") == ("", other, [])
    assert streamed(f" to=get_weather<|message|>{BODY}<|eot|>", tools=()) == ("", BODY, [])


def test_a_call_that_was_cut_stays_open():
    text = f" to=get_weather<|message|>{BODY[: BODY.index('me</atem')]}"
    assert streamed(text, end=End.CUT)[2] == [Call("get_weather", '{"city":"Ro', None, False)]


def test_a_header_that_lost_its_start_is_a_boundary():
    assert streamed(" to=self<|message|>hm to=user<|message|>Yes.") == ("hm", "Yes.", [])
    assert streamed(" to=user<|message|>It goes to=nobody at all") == ("", "It goes to=nobody at all", [])
    name = "n" * 65
    assert streamed(f" to=user<|message|>a to={name}<|message|>b") == ("", f"a to={name}<|message|>b", [])


def test_a_start_without_its_message_is_text():
    for text in ("a <|start|> b", "a <|start|>assistant <|eom", "<|start|>" + "x" * 129 + "<|message|>"):
        assert streamed(f" to=user<|message|>{text}") == ("", text, [])


def test_an_end_written_twice_is_dropped():
    assert streamed(" to=self<|message|>a<|eom|><|eom|><|start|>assistant to=user<|message|>b<|eot|><|eot|>") == (
        "a",
        "b",
        [],
    )


def test_a_prompt_that_did_not_stop_in_a_header_is_answered_with_text():
    assert streamed("Plain <b>words</b>.<|eot|>", UNOPENED) == ("", "Plain <b>words</b>.", [])


def test_output_without_a_header_is_content():
    assert streamed("Plain words.") == ("", "Plain words.", [])


def test_markers_that_are_tokens_are_read_by_id():
    markers = ["<|start|>", "<|message|>", "<|eom|>", "<|eot|>"]
    parts = [" to=self", "<|message|>", "a <|eom|> b", "<|eom|>", "<|start|>", "assistant", " to=user", "<|message|>"]
    chain = OutputChain(MUSE, OPEN, marker_tokens=ids(markers))
    out = joined(feed(chain, tokens([*parts, "c <|start|> to=x<|message|>"], markers)))
    assert (out.reasoning, out.content) == ("a <|eom|> b", "c <|start|> to=x<|message|>")
