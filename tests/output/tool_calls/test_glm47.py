"""GLM's pairs of tags, as GLM, Laguna, Spark and Ling write them."""

from __future__ import annotations

import pytest
from support.calls import PING, Call, Said, said
from support.tagged_calls import NOTE

TOOLS = (PING, NOTE)
ROME = Said("", (Call("note", '{"body":"Rome","count":2}'),))


@pytest.mark.parametrize("between", ["", "\n", "\n  "])
def test_white_space_between_elements_is_layout(between):
    parts = ("<tool_call>", "note", "<arg_key>body</arg_key>", "<arg_value>Rome</arg_value>")
    more = ("<arg_key>count</arg_key>", "<arg_value>2</arg_value>", "</tool_call>")
    assert said("glm47", between.join(parts + more), tools=TOOLS) == ROME


def test_white_space_inside_a_string_is_its_own():
    text = "<tool_call>note\n<arg_key> body </arg_key>\n<arg_value> a\n</arg_value>\n</tool_call>"
    assert said("glm47", text, tools=TOOLS) == Said("", (Call("note", '{"body":" a\\n"}'),))


def test_a_call_without_arguments_is_a_name():
    for text in ("<tool_call>ping</tool_call>", "<tool_call>\nping\n</tool_call>"):
        assert said("glm47", text, tools=TOOLS) == Said("", (Call("ping"),))


def test_a_value_may_quote_other_markers():
    quoted = "</tool_call><tool_call>ping</tool_call><arg_key>x"
    text = f"<tool_call>note<arg_key>body</arg_key><arg_value>{quoted}</arg_value></tool_call>"
    assert said("glm47", text, tools=TOOLS) == Said("", (Call("note", f'{{"body":"{quoted}"}}'),))


def test_a_nullable_string_may_be_null():
    text = "<tool_call>note<arg_key>label</arg_key><arg_value>null</arg_value></tool_call>"
    assert said("glm47", text, tools=TOOLS) == Said("", (Call("note", '{"label":null}'),))


def test_prose_in_the_call_marker_is_text():
    for text in ("<tool_call>a call would stand here</tool_call>", "use <tool_call>ping\nto ping", "<tool_call>"):
        assert said("glm47", text, tools=TOOLS) == Said(text)
