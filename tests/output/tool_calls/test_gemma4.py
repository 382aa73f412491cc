"""Gemma 4's literals."""

from __future__ import annotations

import json

import pytest
from support.calls import CUT, PING, Call, Said, said
from support.tagged_calls import NOTE

TOOLS = (PING, NOTE)


def call(arguments, name="note"):
    return f"<|tool_call>call:{name}{{{arguments}}}<tool_call|>".replace("'", '<|"|>')


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("body:'Sofia',count:3,pinned:false", '{"body":"Sofia","count":3,"pinned":false}'),
        ("body:5", '{"body":5}'),
        ("a:null,b:1.5e3,c:-0", '{"a":null,"b":1.5e3,"c":-0}'),
        ("a:nan,b:1_000,c:018,d:\u0663", '{"a":"nan","b":"1_000","c":"018","d":"\u0663"}'),
        ("a:New York , b:x", '{"a":"New York","b":"x"}'),
        ("extra:{mode:'a,b}',n:[1,[]],deep:{}}", '{"extra":{"mode":"a,b}","n":[1,[]],"deep":{}}}'),
        ("extra: { mode : 'a' , 'quoted key' : true }", '{"extra":{"mode":"a","quoted key":true}}'),
        ("tags:['p','q',]", '{"tags":["p","q"]}'),
        ("body:''", '{"body":""}'),
        ("", "{}"),
    ],
)
def test_literals_become_json(written, expected):
    assert said("gemma4", call(written), tools=TOOLS) == Said("", (Call("note", expected),))


def test_nothing_but_its_quote_ends_a_string():
    value = 'a "b" \\n }<tool_call|><|tool_call>call:ping{}'
    (one,) = said("gemma4", call(f"body:'{value}'"), tools=TOOLS).calls
    assert json.loads(one.arguments) == {"body": value}


def test_calls_abut():
    assert said("gemma4", call("", "ping") + call("body:'x'") + " ok", tools=TOOLS) == Said(
        "ok", (Call("ping"), Call("note", '{"body":"x"}'))
    )


def test_a_call_starts_at_its_brace():
    assert said("gemma4", "<|tool_call>call:note", tools=TOOLS, end=CUT) == Said("<|tool_call>call:note")
    assert said("gemma4", "<|tool_call>call:note{", tools=TOOLS, end=CUT) == Said("", (Call("note", "{", whole=False),))


def test_a_container_is_sent_when_it_is_complete():
    opened = "<|tool_call>call:note{body:1,extra:{a:[1,2"
    assert said("gemma4", opened, tools=TOOLS, end=CUT) == Said("", (Call("note", '{"body":1', whole=False),))
    assert said("gemma4", opened, tools=TOOLS) == Said("", (Call("note", '{"body":1,"extra":{"a":[1,2]}}'),))


@pytest.mark.parametrize("written", ["[" * 5000, "{a:" * 5000, "{a b}", "[1 2"])
def test_a_container_that_is_none_is_text(written):
    text = call("extra:" + written) + "ok"
    (one,) = said("gemma4", text, tools=TOOLS).calls
    assert json.loads(one.arguments)["extra"].startswith(written[:3])


def test_the_marker_behind_the_call_may_be_left_out():
    text = call("body:'x'").removesuffix("<tool_call|>")
    assert said("gemma4", text + call("", "ping"), tools=TOOLS) == Said(
        "", (Call("note", '{"body":"x"}'), Call("ping"))
    )
    assert said("gemma4", text.removesuffix("}") + "<tool_call|>", tools=TOOLS).calls == (Call("note", '{"body":"x"}'),)


def test_a_missing_quote_is_forgiven_where_the_output_ends_with_the_call():
    text = '<|tool_call>call:note{body:<|"|>x}<tool_call|>'
    assert said("gemma4", text, tools=TOOLS).calls == (Call("note", '{"body":"x"}'),)


def test_a_call_of_another_form_is_text():
    for text in ("<|tool_call>note{}<tool_call|>", "<|tool_call>call:note()<tool_call|>"):
        assert said("gemma4", text, tools=TOOLS) == Said(text)
