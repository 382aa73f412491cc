"""LFM2's Python calls."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.calls import CUT, PING, Call, Said, said
from support.tagged_calls import NOTE

from ferrox_gguf.request import Tool

TOOLS = (PING, NOTE, Tool("shop.search"))


def call(inside):
    return f"<|tool_call_start|>[{inside}]<|tool_call_end|>"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('body="Rio", count=2, pinned=True', '{"body":"Rio","count":2,"pinned":true}'),
        ("a=None, b=null, c=false, d=False", '{"a":null,"b":null,"c":false,"d":false}'),
        ("extra={\"on\": True, 'x': None, 3: [1, 'a']}", '{"extra":{"on":true,"x":null,"3":[1,"a"]}}'),
        ("tags=['a', 'b',], pair=(1, 2)", '{"tags":["a","b"],"pair":[1,2]}'),
        ("body='a\\n\\t\\'\\\"\\\\ \\x41\\u00e9\\q'", '{"body":"a\\n\\t\'\\"\\\\ A\u00e9\\\\q"}'),
        ("body='''two\n'lines' '''", '{"body":"two\\n\'lines\' "}'),
        ('body=""', '{"body":""}'),
        ('body=""""quoted" here"""', '{"body":"\\"quoted\\" here"}'),
        ("a=nan, b=1_000, c=018, d=0x1F, e=-1.5e2", '{"a":"nan","b":"1_000","c":"018","d":"0x1F","e":-1.5e2}'),
        ("body = 'x' , count = 1", '{"body":"x","count":1}'),
        ("", "{}"),
    ],
)
def test_python_becomes_json(written, expected):
    assert said("lfm2", call(f"note({written})"), tools=TOOLS) == Said("", (Call("note", expected),))


def test_a_quote_ends_a_string_only_where_the_call_can_go_on():
    text = call("note(body='Xi'an and 'more'', label=\"a \"b\" c\")")
    assert said("lfm2", text, tools=TOOLS) == Said(
        "", (Call("note", '{"body":"Xi\'an and \'more\'","label":"a \\"b\\" c"}'),)
    )


def test_names_may_have_dots():
    assert said("lfm2", call("shop.search(q='x')"), tools=TOOLS) == Said("", (Call("shop.search", '{"q":"x"}'),))


def test_links_and_lists_are_text():
    for text in ("See [here](http://x.y) or [z].", "[ping()]", "<|tool_call_start|>[see below]<|tool_call_end|>"):
        assert said("lfm2", text, tools=TOOLS) == Said(text)


def test_an_unoffered_call_in_the_list_is_content():
    bad = "rm(path='ping()')"
    text = call(f"ping(), {bad}, ping()")
    assert said("lfm2", text, tools=TOOLS) == Said(bad, (Call("ping"), Call("ping")))


def test_a_cut_inside_a_string_or_an_escape_ends_where_it_is_certain():
    for tail in ("", "\\", "\\u00"):
        text = f'<|tool_call_start|>[note(body="Ri{tail}'
        assert said("lfm2", text, tools=TOOLS, end=CUT) == Said("", (Call("note", '{"body":"Ri', whole=False),))


def test_a_container_is_sent_when_it_is_complete():
    opened = "<|tool_call_start|>[note(count=1, extra={'a': [1, 'x"
    assert said("lfm2", opened, tools=TOOLS, end=CUT) == Said("", (Call("note", '{"count":1', whole=False),))
    assert said("lfm2", opened, tools=TOOLS) == Said("", (Call("note", '{"count":1,"extra":{"a":[1,"x"]}}'),))


@pytest.mark.parametrize("written", ["[" * 5000, "{1: " * 5000, "{1 2}"])
def test_a_container_that_is_none_is_text(written):
    (one,) = said("lfm2", call(f"note(extra={written})"), tools=TOOLS).calls
    assert json.loads(one.arguments)["extra"].startswith(written[:2])


def test_positional_arguments_are_no_call():
    text = call("note('x')")
    assert said("lfm2", text, tools=TOOLS) == Said(text)


def test_missing_ends_are_forgiven():
    for ends in ("", ")", ")]", "]<|tool_call_end|>", "<|tool_call_end|>"):
        text = f'<|tool_call_start|>[note(body="x"{ends}'
        assert said("lfm2", text, tools=TOOLS) == Said("", (Call("note", '{"body":"x"}'),))


@given(st.text())
def test_every_string_survives_as_python_writes_it(value):
    (one,) = said("lfm2", call(f"note(body={value!r})"), tools=TOOLS).calls
    assert json.loads(one.arguments) == {"body": value}
