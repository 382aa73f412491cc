"""Qwen3-Coder's tags."""

from __future__ import annotations

import pytest
from support.calls import CUT, PING, Call, Said, said
from support.tagged_calls import NOTE

TOOLS = (PING, NOTE)


def body(text):
    return Said("", (Call("note", f'{{"body":"{text}"}}'),))


def call(value):
    return f"<tool_call>\n<function=note>\n<parameter=body>{value}</parameter>\n</function>\n</tool_call>"


@pytest.mark.behaviour("O5")
def test_the_block_may_be_written_tightly():
    text = "<tool_call><function=note><parameter=body>\nRome\n</parameter></function></tool_call>"
    assert said("qwen3_coder", text, tools=TOOLS) == body("Rome")


def test_the_opening_of_the_block_may_be_left_out():
    text = "Sure: <function=note>\n<parameter=body>\nRome\n</parameter>\n</function>\n</tool_call>"
    assert said("qwen3_coder", text, tools=TOOLS) == Said("Sure:", body("Rome").calls)


def test_prose_and_code_with_the_function_tag_stay_text():
    for text in ("#include <functional> is enough.", "Write <function=NAME> first.", "a <function=ping> b"):
        assert said("qwen3_coder", text, tools=TOOLS) == Said(text)


def test_one_line_break_on_either_side_is_layout():
    assert said("qwen3_coder", call("\n  x\n\n"), tools=TOOLS) == body("  x\\n")
    assert said("qwen3_coder", call("\n\n\n"), tools=TOOLS) == body("\\n")
    assert said("qwen3_coder", call("\n"), tools=TOOLS) == body("")
    assert said("qwen3_coder", call("Lyon &amp; Bron"), tools=TOOLS) == body("Lyon &amp; Bron")


def test_calls_follow_each_other_without_a_line_break():
    text = (
        "<tool_call>\n<function=ping>\n</function>\n</tool_call><tool_call>\n<function=ping>\n</function>\n</tool_call>"
    )
    assert said("qwen3_coder", text, tools=TOOLS) == Said("", (Call("ping"), Call("ping")))


def test_several_functions_may_share_a_block():
    text = "<tool_call>\n<function=ping>\n</function>\n<function=ping>\n</function>\n</tool_call>"
    assert said("qwen3_coder", text, tools=TOOLS) == Said("", (Call("ping"), Call("ping")))


def test_the_end_of_the_function_may_be_left_out():
    text = "<tool_call>\n<function=note>\n<parameter=body>\nx\n</parameter>\n</tool_call> then"
    assert said("qwen3_coder", text, tools=TOOLS) == Said(" then".lstrip(), body("x").calls)


def test_the_next_call_ends_a_value_whose_end_is_missing():
    text = call("\nx\n").replace("</parameter>\n", "") + "\n<tool_call>\n<function=ping>\n</function>\n</tool_call>"
    assert said("qwen3_coder", text, tools=TOOLS) == Said("", (*body("x").calls, Call("ping")))


def test_a_head_that_is_none_goes_into_the_arguments_as_it_stands():
    text = call("\nx\n").replace("</function>", "<parameter=a\nb>1</function>")
    (note,) = said("qwen3_coder", text, tools=TOOLS).calls
    assert note.arguments == '{"body":"x"<parameter=a\nb>1'


def test_a_cut_leaves_out_what_may_be_layout_or_an_end():
    for tail in ("", "\n", "\n</", "\n</parameter"):
        text = f"<function=note>\n<parameter=body>\nhalf{tail}"
        assert said("qwen3_coder", text, tools=TOOLS, end=CUT) == Said(
            "", (Call("note", '{"body":"half', whole=False),)
        )


def test_the_hermes_form_after_a_call_is_text():
    hermes = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'
    assert said("qwen3_coder", call("\nx\n") + hermes, tools=TOOLS) == Said(hermes, body("x").calls)
