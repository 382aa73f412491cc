"""Hy3's tags."""

from __future__ import annotations

from support.calls import PING, Call, Said, said
from support.tagged_calls import NOTE

CALL = (
    "<tool_call:opensource>note<tool_sep:opensource>\n<arg_key:opensource>body</arg_key:opensource>\n"
    "<arg_value:opensource>x</arg_value:opensource>\n</tool_call:opensource>"
)
SAID = Said("", (Call("note", '{"body":"x"}'),))


def test_the_section_may_be_left_out():
    assert said("hunyuan_v3", CALL, tools=[NOTE]) == SAID
    assert said("hunyuan_v3", f"{CALL}\n</tool_calls:opensource>", tools=[NOTE]) == SAID


def test_the_marker_behind_the_name_may_be_left_out():
    assert said("hunyuan_v3", CALL.replace("<tool_sep:opensource>", ""), tools=[NOTE]) == SAID
    assert said("hunyuan_v3", "<tool_call:opensource>ping</tool_call:opensource>", tools=[PING]) == Said(
        "", (Call("ping"),)
    )


def test_text_between_the_calls_of_a_section_is_content():
    text = f"<tool_calls:opensource>{CALL} and {CALL}</tool_calls:opensource>."
    assert said("hunyuan_v3", text, tools=[NOTE]) == Said("and .", SAID.calls * 2)
