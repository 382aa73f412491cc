"""MiniMax-M3's elements."""

from __future__ import annotations

import json

import pytest
from support.calls import CUT, PING, Call, Said, fed, said, splitter
from support.tagged_calls import M3

from ferrox_gguf.events import ToolCallArguments
from ferrox_gguf.request import Tool

ADDRESS = {"type": "object", "properties": {"zip": {"type": "string"}, "floor": {"type": "integer"}}}
SHIP = Tool(
    "ship",
    parameters={
        "properties": {
            "to": {"$ref": "#/$defs/Address"},
            "items": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}},
            "tags": {"type": "array", "items": {"type": "string"}},
            "note": {"type": "string"},
            "weight": {"type": "number"},
        },
        "$defs": {"Address": ADDRESS},
    },
)
TOOLS = (PING, SHIP)


def tags(text):
    """Every tag with its marker in front."""
    return text.replace("<", f"{M3}<")


def call(body):
    return tags(f'<tool_call>\n<invoke name="ship">{body}</invoke>\n</tool_call>')


def arguments(text, end=None):
    (one,) = said("minimax_m3", text, tools=TOOLS, **({} if end is None else {"end": end})).calls
    return one.arguments


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<to><zip>018</zip><floor>2</floor></to>", '{"to":{"zip":"018","floor":2}}'),
        ("<to>\n <zip>018</zip>\n</to>\n<weight> 1.50 </weight>", '{"to":{"zip":"018"},"weight":1.50}'),
        ("<items><item><sku>7</sku></item><item><sku>8</sku></item></items>", '{"items":[{"sku":"7"},{"sku":"8"}]}'),
        ("<items></items><to>\n</to><note></note>", '{"items":[],"to":{},"note":""}'),
        ('<to>{"zip": "018"}</to>', '{"to":{"zip":"018"}}'),
        ('<tags>["a", "b"]</tags>', '{"tags":["a","b"]}'),
        ("<tags><tag>1</tag><tag>2</tag></tags>", '{"tags":["1","2"]}'),
        ("<other><a>1</a><b>x</b></other>", '{"other":{"a":1,"b":"x"}}'),
        ("<other><item>1</item><item>x</item></other>", '{"other":[1,"x"]}'),
        ("<other>1</other><other>2</other><note>n</note>", '{"other":[1,2],"note":"n"}'),
        ("<other><a>1</a></other><other>2</other>", '{"other":[{"a":1},2]}'),
        ("<other></other>", '{"other":""}'),
    ],
)
def test_elements_become_what_the_schema_declares_at_every_depth(body, expected):
    assert arguments(call(body)) == expected


def test_markup_inside_a_string_is_text():
    quoted = tags('<tool_call><invoke name="ping"></invoke></tool_call> </to>')
    assert json.loads(arguments(call(f"<note>see {quoted}</note>".replace(quoted, "@")).replace("@", quoted))) == {
        "note": f"see {quoted}"
    }


def test_a_string_may_quote_its_own_element():
    quoted = tags("<note>inner</note>")
    text = call("<note>a @ b</note>").replace("@", quoted)
    assert json.loads(arguments(text)) == {"note": f"a {quoted} b"}


def test_part_of_the_marker_is_text():
    for value in ("]", "]<]mini", "a]<]]<]minimax[>", f"{M3} <"):
        assert json.loads(arguments(call("<note>@</note>").replace("@", value))) == {"note": value}


def test_a_string_of_a_nested_object_streams():
    machine = splitter("minimax_m3", TOOLS)
    machine.push(tags('<tool_call>\n<invoke name="ship"><to><zip>'))
    assert machine.push("0189") == [ToolCallArguments(0, '"zip":"0189')]


def test_a_cut_keeps_what_is_certain():
    opened = tags('<tool_call><invoke name="ship"><note>n</note>')
    for tail, expected in (
        ("<weight>4", '{"note":"n"'),
        ("<other>4</other>", '{"note":"n"'),  # may yet be an array
        ("<other>4</other><weight>", '{"note":"n","other":4'),
        ("<to><zip>01", '{"note":"n","to":{"zip":"01'),
        ("<to><zip>01</zip></t", '{"note":"n","to":{"zip":"01"'),
    ):
        assert arguments(opened + tags(tail), end=CUT) == expected


def test_the_end_of_generation_closes_what_is_open():
    opened = tags('<tool_call><invoke name="ship"><note>n</note>')
    for tail, expected in (
        ("<weight>4", '{"note":"n","weight":4}'),
        ("<other>4</other>", '{"note":"n","other":4}'),
        ("<items><item><sku>01", '{"note":"n","items":[{"sku":"01"}]}'),
        ("<items><item><sku>01</sku></it", '{"note":"n","items":[{"sku":"01"}]}'),
    ):
        assert arguments(opened + tags(tail)) == expected


def test_the_call_ends_elements_whose_ends_are_missing():
    assert arguments(call("<to><zip>01</zip>")) == '{"to":{"zip":"01"}}'


def test_text_between_elements_goes_into_the_arguments_as_it_stands():
    text = call("<weight>4</weight> kilos <note>n</note>") + " Sent."
    assert said("minimax_m3", text, tools=TOOLS) == Said(
        "Sent.", (Call("ship", '{"weight":4' + tags("kilos <note>n</note>")),)
    )


def test_elements_too_deep_to_be_json_are_text():
    depth = 2000
    text = call("<a>" * depth + "</a>" * depth)
    assert fed(splitter("minimax_m3", TOOLS), [text]) == fed(splitter("minimax_m3", TOOLS), text)
    (one,) = fed(splitter("minimax_m3", TOOLS), [text]).calls
    assert one.whole
    json.loads(one.arguments)
