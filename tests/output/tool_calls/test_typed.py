"""A value's text by its declared types."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrox_gguf.declared import Declared
from ferrox_gguf.output.tool_calls.typed import TypedValue

TYPES = ["string", "integer", "number", "boolean", "object", "array", "null"]


def value(types, *texts):
    machine = TypedValue(Declared(frozenset(types)))
    return "".join(machine.push(text) for text in texts) + machine.close()


@pytest.mark.parametrize(
    ("types", "text", "expected"),
    [
        (["string"], " 018 ", '" 018 "'),
        (["integer"], " 7\n", "7"),
        (["integer"], "7.0", "7.0"),
        (["integer"], "7.5", '"7.5"'),
        (["integer"], "+7", '"+7"'),
        (["integer"], "", '""'),
        (["number"], "1e400", "1e400"),
        (["number"], "-0.10", "-0.10"),
        (["number"], "Infinity", '"Infinity"'),
        (["number"], "1.", '"1."'),
        (["boolean"], " TRUE ", "true"),
        (["boolean"], "yes", "false"),
        (["null"], "anything", "null"),
        (["object"], '{"a": null}', '{"a":null}'),
        (["object"], "[1 , 2]", "[1,2]"),
        (["object"], "{'a': 1}", "\"{'a': 1}\""),
        (["array"], '["a"] and', '"[\\"a\\"] and"'),
        (["string", "null"], "null", "null"),
        (["string", "null"], "None", '"None"'),
        (["string", "null"], "5", '"5"'),
        (["string", "integer"], "5", "5"),
        (["string", "integer"], "5 pm", '"5 pm"'),
        (["integer", "null"], "None", "null"),
        (["boolean", "null"], "TRUE", "true"),
        (["boolean", "string"], "TRUE", '"TRUE"'),
        (["boolean", "string"], "True", "true"),
        (["array", "string"], "[x]", '"[x]"'),
        (["array", "string"], '["x"]', '["x"]'),
        ([], "True", "true"),
        ([], "None", "null"),
        ([], " 12 ", "12"),
        ([], '"quoted"', '"\\"quoted\\""'),
        ([], "12 Main St", '"12 Main St"'),
        ([], "{} {}", '"{} {}"'),
        ([], "", '""'),
        ([], "true" + " " * 500, '"true' + " " * 500 + '"'),
    ],
)
@pytest.mark.behaviour("O11")
def test_a_text_becomes_what_is_declared_or_stays_text(types, text, expected):
    assert value(types, text) == expected
    assert value(types, *text) == expected


def test_a_value_of_several_types_streams_as_soon_as_it_is_certainly_a_string():
    machine = TypedValue(Declared(frozenset({"string", "null"})))
    assert [machine.push(text) for text in ("nu", "l", "lo", " there")] == ["", "", '"nullo', " there"]
    assert machine.close() == '"'


@given(st.lists(st.sampled_from(TYPES), unique=True), st.lists(st.text('tru e1.-{}[]"nul,:\ud800é\\')))
def test_every_text_becomes_json_however_it_is_cut(types, texts):
    whole = "".join(texts)
    assert value(types, *texts) == value(types, whole)
    json.loads(value(types, whole))
