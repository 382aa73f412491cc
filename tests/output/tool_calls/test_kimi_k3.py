"""Kimi K3's XTML."""

from __future__ import annotations

from support.calls import CUT, PING, Call, Said, said
from support.tagged_calls import FORMS, NOTE

from ferrox_gguf.request import Tool

TOOLS = (PING, NOTE)


def section(calls):
    return f"<|open|>tools<|sep|>{calls}<|close|>tools<|sep|>"


def body(inside, name="note"):
    return f'<|open|>call tool="{name}" index="1"<|sep|>{inside}<|close|>call<|sep|>'


def argument(key, type, value):
    return f'<|open|>argument key="{key}" type="{type}"<|sep|>{value}<|close|>argument<|sep|>'


def test_the_written_type_holds_where_the_schema_declares_none():
    inside = argument("count", "string", "5") + argument("other", "string", "5") + argument("more", "number", "5")
    assert said("kimi_k3", section(body(inside)), tools=TOOLS) == Said(
        "", (Call("note", '{"count":5,"other":"5","more":5}'),)
    )


def test_attributes_unescape_quotes_and_ampersands():
    tool = Tool('a"&b')
    text = section(body(argument("x&quot;&amp;y", "string", "&amp;"), name="a&quot;&amp;b"))
    assert said("kimi_k3", text, tools=[tool]) == Said("", (Call('a"&b', '{"x\\"&y":"&amp;"}'),))


def test_the_body_may_be_one_json_object():
    inside = '<|open|>json type="object"<|sep|>{"body": "a <|close|>json<|sep|> b", "count": 2}<|close|>json<|sep|>'
    assert said("kimi_k3", section(body(inside) + body("", "ping")), tools=TOOLS) == Said(
        "", (Call("note", '{"body":"a <|close|>json<|sep|> b","count":2}'), Call("ping"))
    )
    unoffered = section(body(inside, "shell"))
    assert said("kimi_k3", unoffered, tools=TOOLS) == Said(unoffered)


def test_a_json_body_that_is_cut_ends_where_the_model_stopped():
    text = '<|open|>tools<|sep|><|open|>call tool="note"<|sep|><|open|>json type="object"<|sep|>{"body": "ha'
    assert said("kimi_k3", text, tools=TOOLS, end=CUT) == Said("", (Call("note", '{"body":"ha', whole=False),))


def test_the_end_of_the_turn_behind_the_calls_is_markup():
    text = FORMS["kimi_k3"].write(("ping", {})) + "<|close|>message<|sep|><|end_of_msg|>"
    assert said("kimi_k3", text, tools=TOOLS) == Said("", (Call("ping"),))
