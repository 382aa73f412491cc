"""The chain as a whole: calls behind thoughts, stop strings, displays, control tokens."""

from __future__ import annotations

import pytest
from support.output import OPEN, SAVE, WEATHER, Call, family, feed, ids, joined, pieces, read, tokens

from ferrox_gguf.events import ContentDelta, ToolCallEnd, ToolCallStart
from ferrox_gguf.output.chain import OutputChain, Stop
from ferrox_gguf.output.pieces import End, Piece, TokenKind
from ferrox_gguf.posture.values import Posture
from ferrox_gguf.request import ReasoningDisplay

HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
ROME = [("get_weather", '{"city":"Rome"}')]
PLAIN = Posture()


def calls(out):
    return [(call.name, call.arguments) for call in out.calls]


def streamed(posture, text, *args, **options):
    """Fed whole; one character at a time must give the same."""
    out = read(posture, text, *args, **options)
    assert read(posture, list(text), *args, **options) == out
    return out


@pytest.mark.behaviour("O4")
def test_the_native_form_is_looked_for_first_then_hermes():
    native = "<tool_call><function=get_weather><parameter=city>\nRome\n</parameter></function></tool_call>"
    assert calls(streamed(family("qwen3-coder"), native, tools=[WEATHER])) == ROME
    assert calls(streamed(family("qwen3-coder"), HERMES, tools=[WEATHER])) == ROME
    assert calls(streamed(family("mistral"), f"Well: {HERMES}", tools=[WEATHER])) == ROME


@pytest.mark.behaviour("O4")
def test_the_form_that_starts_a_call_fixes_the_form_of_the_message():
    text = '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Rome"}}]' + HERMES
    out = streamed(family("mistral"), text, tools=[WEATHER])
    assert calls(out) == ROME
    assert out.content == HERMES


@pytest.mark.behaviour("O5")
def test_hermes_is_recognised_from_a_model_without_a_native_form():
    assert calls(streamed(PLAIN, HERMES, tools=[WEATHER])) == ROME


@pytest.mark.behaviour("O6")
def test_a_family_that_always_thinks_first_needs_no_opener():
    text = (
        'I need the weather.</think><minimax:tool_call><invoke name="get_weather">'
        '<parameter name="city">Rome</parameter></invoke></minimax:tool_call>'
    )
    out = streamed(family("minimax-m2"), text, OPEN, tools=[WEATHER])
    assert out.reasoning == "I need the weather."
    assert calls(out) == ROME
    assert out.content == ""


@pytest.mark.behaviour("O7")
def test_two_calls_are_two_and_a_thought_before_them_is_kept():
    out = streamed(family("qwen3"), f"<think>\nCheck both.\n</think>\n\n{HERMES}\n{HERMES}", tools=[WEATHER])
    assert out.reasoning == "Check both."
    assert calls(out) == ROME * 2
    assert out.content == ""


@pytest.mark.behaviour("O8")
@pytest.mark.parametrize("text", ["Plain words.", HERMES, " \n <tool_call>", "a<", ""])
def test_without_tools_the_text_comes_back_untouched(text):
    out = streamed(family("hermes"), text)
    assert (out.reasoning, out.content, out.calls) == ("", text, [])


@pytest.mark.behaviour("O8")
def test_without_tools_and_thoughts_each_piece_passes_at_once():
    chain = OutputChain(PLAIN)
    assert [chain.push(pieces(text)) for text in ("<", "tool_call> ", "\n")] == [
        [ContentDelta("<")],
        [ContentDelta("tool_call> ")],
        [ContentDelta("\n")],
    ]


@pytest.mark.behaviour("O9")
def test_a_plain_answer_with_tools_on_offer_is_a_plain_answer():
    out = streamed(family("qwen3"), "It is noon.", tools=[WEATHER])
    assert (out.reasoning, out.content, out.calls) == ("", "It is noon.", [])


@pytest.mark.behaviour("O10")
def test_a_tool_that_was_not_offered_is_not_called():
    text = HERMES.replace("get_weather", "get_time")
    out = streamed(family("qwen3"), text, tools=[WEATHER])
    assert (out.content, out.calls) == (text, [])


@pytest.mark.behaviour("O11")
def test_declared_types_reach_the_parser():
    text = (
        "<tool_call>\n<function=save>\n<parameter=path>\n018\n</parameter>\n"
        "<parameter=n>\n018\n</parameter>\n</function>\n</tool_call>"
    )
    assert calls(streamed(family("qwen3-coder"), text, tools=[SAVE])) == [("save", '{"path":"018","n":"018"}')]
    text = text.replace("n>\n018", "n>\n18")
    assert calls(streamed(family("qwen3-coder"), text, tools=[SAVE])) == [("save", '{"path":"018","n":18}')]


@pytest.mark.behaviour("O12")
def test_white_space_between_content_and_calls_is_held():
    out = streamed(family("qwen3"), f"One moment. {HERMES} Sent.", tools=[WEATHER])
    assert (out.content, calls(out)) == ("One moment. Sent.", ROME)
    out = streamed(family("qwen3"), f" One moment.\n\n{HERMES}\n", tools=[WEATHER])
    assert (out.content, calls(out)) == (" One moment.", ROME)
    assert streamed(family("qwen3"), f"\n\n{HERMES}\n\n{HERMES}\n", tools=[WEATHER]).content == ""


def test_a_call_that_was_cut_is_not_whole_and_was_not_called():
    for end, arguments, whole in ((End.CUT, '{"city":"Ro', False), (End.DONE, '{"city":"Ro"}', True)):
        chain = OutputChain(family("qwen3"), tools=[WEATHER])
        out = joined(feed(chain, pieces('<tool_call>{"name": "get_weather", "arguments": {"city": "Ro'), end))
        assert out.calls == [Call("get_weather", arguments, None, whole)]
        assert chain.called is whole


# -- stop strings


def test_a_stop_string_ends_the_output_and_is_not_shown():
    chain = OutputChain(PLAIN, stops=["END", "\n\n"])
    assert joined(chain.push(pieces("one E"))).content == "one "
    assert joined(chain.push(pieces("ND two"))).content == ""
    assert chain.stop == Stop("END")
    assert chain.push(pieces("more")) == []
    assert chain.flush(End.DONE) == []


def test_stop_strings_do_not_act_on_the_thought():
    out = streamed(family("qwen3"), "<think>a STOP b</think>c STOP d", stops=["STOP"])
    assert (out.reasoning, out.content) == ("a STOP b", "c ")


def test_stop_strings_act_on_the_raw_text_where_nothing_is_split():
    text, display = "<think>a STOP b</think>c", ReasoningDisplay.NONE
    assert streamed(family("qwen3"), text, stops=["STOP"], display=display).content == "<think>a "


def test_a_stop_string_in_a_calls_name_leaves_no_call():
    chain = OutputChain(family("qwen3"), tools=[WEATHER], stops=["weather"])
    out = joined(feed(chain, pieces(HERMES)))
    assert (out.calls, out.content) == ([], '<tool_call>\n{"name": "get_')
    assert not chain.called


def test_a_stop_string_inside_arguments_leaves_them_unclosed():
    chain = OutputChain(family("qwen3"), tools=[WEATHER], stops=["Rome"])
    out = joined(feed(chain, pieces(HERMES)))
    assert out.calls == [Call("get_weather", '{"city":"', None, False)]
    assert not chain.called
    assert chain.stop == Stop("Rome")


def test_an_end_marker_that_the_model_spells_out_ends_the_output_as_its_own():
    laguna = family("laguna")
    chain = OutputChain(laguna, OPEN, tools=[WEATHER], stops=["</ass"])
    out = joined(feed(chain, pieces(["a</think>b</assis", "tant>c"])))
    assert (out.reasoning, out.content) == ("a", "b")
    assert chain.stop == Stop("</assistant>", own=True)


def test_the_models_own_end_closes_a_call_that_a_stop_string_would_cut():
    text = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"<|role_end|>'
    chain = OutputChain(family("ling-3"), tools=[WEATHER])
    out = joined(feed(chain, pieces(text)))
    assert out.calls == [Call("get_weather", '{"city":"Rome"}', None, True)]
    assert chain.called


def test_what_is_held_is_flushed_before_the_end_marker():
    out = streamed(family("ling-3"), "a</thin<|role_end|>k>", OPEN)
    assert (out.reasoning, out.content) == ("a</thin", "")


# -- displays

THOUGHT = "\n<think>\na\n</think>\n\nb"


def test_display_none_leaves_everything_in_the_content():
    out = streamed(family("qwen3"), THOUGHT, display=ReasoningDisplay.NONE)
    assert (out.reasoning, out.content) == ("", THOUGHT)
    chain = OutputChain(family("qwen3"), display=ReasoningDisplay.NONE)
    feed(chain, pieces(["\n", "<think>", "a", "</think>", "b"]))
    assert chain.reasoning_tokens == 4


def test_display_none_shows_the_messages_of_channels_and_still_finds_their_calls():
    text = (
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant to=functions.get_weather<|channel|>commentary"
        '<|message|>{"city": "Rome"}<|call|>'
    )
    out = streamed(family("gpt-oss"), text, tools=[WEATHER], display=ReasoningDisplay.NONE)
    assert (out.reasoning, out.content) == ("", "<|channel|>analysis<|message|>hm<|end|>")
    assert calls(out) == ROME


def test_display_legacy_keeps_the_tags_in_the_content_and_fills_the_reasoning_too():
    out = streamed(family("qwen3"), THOUGHT, display=ReasoningDisplay.DEEPSEEK_LEGACY)
    assert (out.reasoning, out.content) == ("a", THOUGHT)


# -- control tokens

PAD = Piece("<|pad|>", TokenKind.CONTROL, 77)


def test_a_control_token_that_marks_nothing_is_shown_only_on_demand():
    for special, shown in ((False, "ab"), (True, "a<|pad|>b")):
        chain = OutputChain(PLAIN, special=special)
        assert joined(feed(chain, [Piece("a"), PAD, Piece("b")])).content == shown
        chain = OutputChain(PLAIN, special=special)
        assert joined(chain.push([Piece("a"), PAD, Piece("b")])).content == shown
    chain = OutputChain(PLAIN)
    assert joined(feed(chain, [Piece("a"), Piece("<|own|>", TokenKind.USER_DEFINED, 78)])).content == "a<|own|>"


def test_control_tokens_of_a_calls_syntax_reach_its_parser():
    markers = ["<|tool_calls_section_begin|>", "<|tool_call_begin|>", "<|tool_call_argument_begin|>"]
    markers += ["<|tool_call_end|>", "<|tool_calls_section_end|>", "<think>", "</think>"]
    parts = [*markers[:2], "functions.get_weather:0", markers[2], '{"city": "Rome"}', *markers[3:5]]
    given = [Piece("On it."), *tokens(parts, markers)]
    chain = OutputChain(family("kimi-k2-thinking"), tools=[WEATHER], marker_tokens={"<think>": 5, "</think>": 6})
    out = joined(feed(chain, given))
    assert (out.content, out.calls) == (
        "On it.",
        [Call("get_weather", '{"city":"Rome"}', "functions.get_weather:0", True)],
    )
    chain = OutputChain(family("kimi-k2-thinking"), tools=[WEATHER])
    assert joined(chain.push(given) + chain.flush(End.DONE)) == out


def test_the_call_comes_out_while_it_is_written():
    chain = OutputChain(family("qwen3"), tools=[WEATHER])
    assert chain.push(pieces('<tool_call>{"name": "get_weather", "arguments": ')) == []
    assert chain.push(pieces('{"'))[0] == ToolCallStart(0, "get_weather")
    assert joined([ToolCallStart(0, "x"), *chain.push(pieces('city": "Ro'))]).calls[0].arguments.endswith("Ro")
    assert chain.push(pieces('me"}}'))[-1] == ToolCallEnd(0)


def test_marker_tokens_of_the_prompts_family_are_spelled_where_they_are_text():
    chain = OutputChain(family("qwen3"), marker_tokens=ids(["<think>", "</think>"]), display=ReasoningDisplay.NONE)
    assert joined(feed(chain, tokens(["<think>", "a", "</think>", "b"], ["<think>", "</think>"]))).content == (
        "<think>a</think>b"
    )
