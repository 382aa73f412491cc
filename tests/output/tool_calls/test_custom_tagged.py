"""Tagged calls of a template that nobody has seen, from the markers that comparing its renderings finds."""

from __future__ import annotations

import pytest
from support.calls import PING, Call, Said, said
from support.tagged_calls import FORMS, NOTE

from ferrox_gguf.output.tool_calls.custom_tagged import tagged_syntax
from ferrox_gguf.posture.values import CallMarkers

TOOLS = (PING, NOTE)
MARKERS = {
    "qwen3_coder": CallMarkers(
        "tagged",
        section_open="<tool_call>",
        section_close="</tool_call>",
        call_open="<function=",
        name_close=">",
        call_close="</function>",
        key_open="<parameter=",
        key_close=">",
        value_close="</parameter>",
    ),
    "seed_oss": CallMarkers(
        "tagged",
        section_open="<seed:tool_call>",
        section_close="</seed:tool_call>",
        call_open="<function=",
        name_close=">",
        call_close="</function>",
        key_open="<parameter=",
        key_close=">",
        value_close="</parameter>",
    ),
    "glm47": CallMarkers(
        "tagged",
        call_open="<tool_call>",
        call_close="</tool_call>",
        key_open="<arg_key>",
        key_close="</arg_key>",
        value_open="<arg_value>",
        value_close="</arg_value>",
    ),
    "minimax": CallMarkers(
        "tagged",
        section_open="<minimax:tool_call>",
        section_close="</minimax:tool_call>",
        call_open='<invoke name="',
        name_close='">',
        call_close="</invoke>",
        key_open='<parameter name="',
        key_close='">',
        value_close="</parameter>",
    ),
    "hunyuan_v3": CallMarkers(
        "tagged",
        section_open="<tool_calls:opensource>",
        section_close="</tool_calls:opensource>",
        call_open="<tool_call:opensource>",
        name_close="<tool_sep:opensource>",
        call_close="</tool_call:opensource>",
        key_open="<arg_key:opensource>",
        key_close="</arg_key:opensource>",
        value_open="<arg_value:opensource>",
        value_close="</arg_value:opensource>",
    ),
}


@pytest.mark.parametrize("form", MARKERS)
def test_the_markers_alone_read_a_familys_calls(form):
    text = FORMS[form].write(("note", {"body": "int x;", "count": "3"}), ("ping", {}))
    assert said(tagged_syntax(MARKERS[form]), f"Ok.\n{text}", tools=TOOLS) == Said(
        "Ok.", (Call("note", '{"body":"int x;","count":3}'), Call("ping"))
    )


@pytest.mark.parametrize("form", MARKERS)
def test_other_text_and_other_tools_stay_text(form):
    text = f"See {FORMS[form].write(('shell', {'body': 'ls'}))}"
    assert said(tagged_syntax(MARKERS[form]), text, tools=TOOLS) == Said(text)


def test_a_value_that_begins_with_no_line_break_has_no_layout():
    text = FORMS["seed_oss"].write(("note", {"body": "int x;\n"}))
    assert said(tagged_syntax(MARKERS["seed_oss"]), text, tools=TOOLS).calls == (Call("note", '{"body":"int x;\\n"}'),)
    text = FORMS["qwen3_coder"].write(("note", {"body": "int x;\n"}))
    assert said(tagged_syntax(MARKERS["qwen3_coder"]), text, tools=TOOLS).calls == (
        Call("note", '{"body":"int x;\\n"}'),
    )


def test_markers_that_cannot_tell_the_parts_apart_read_nothing():
    syntax = tagged_syntax(CallMarkers("tagged", section_open="<call>", section_close="</call>"))
    assert said(syntax, "<call>ping</call>", tools=TOOLS) == Said("<call>ping</call>")
