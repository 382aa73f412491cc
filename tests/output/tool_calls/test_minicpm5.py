"""MiniCPM5's tags."""

from __future__ import annotations

from support.calls import CUT, PING, Call, Said, said
from support.tagged_calls import NOTE

TOOLS = (PING, NOTE)


def body(value):
    return f'<function name="note"><param name="body">{value}</param></function>'


def test_a_cdata_section_is_markup_and_its_inside_is_the_value():
    text = body("<![CDATA[<b>x</param> & y]]>")
    assert said("minicpm5", text, tools=TOOLS) == Said("", (Call("note", '{"body":"<b>x</param> & y"}'),))


def test_the_end_of_a_section_is_quoted_by_two_of_them():
    text = body("<![CDATA[a]]]]><![CDATA[>b]]>")
    assert said("minicpm5", text, tools=TOOLS) == Said("", (Call("note", '{"body":"a]]>b"}'),))


def test_the_end_of_a_section_counts_only_before_the_end_of_the_value():
    text = body("<![CDATA[if (a[b[0]]>1)]]>")
    assert said("minicpm5", text, tools=TOOLS) == Said("", (Call("note", '{"body":"if (a[b[0]]>1)"}'),))


def test_a_typed_value_may_stand_in_a_section():
    text = body("x").replace("</function>", '<param name="count"><![CDATA[3]]></param></function>')
    assert said("minicpm5", text, tools=TOOLS) == Said("", (Call("note", '{"body":"x","count":3}'),))


def test_a_cut_inside_a_section_ends_where_the_model_stopped():
    text = '<function name="note"><param name="body"><![CDATA[a < b'
    assert said("minicpm5", text, tools=TOOLS, end=CUT) == Said("", (Call("note", '{"body":"a < b', whole=False),))


def test_quotes_of_attributes_may_be_single():
    assert said("minicpm5", "<function name='ping'></function>", tools=TOOLS) == Said("", (Call("ping"),))
