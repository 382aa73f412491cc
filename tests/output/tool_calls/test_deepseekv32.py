"""DSML, as DeepSeek V3.2 and V4 write it."""

from __future__ import annotations

import pytest
from support.calls import PING, Call, Said, said
from support.tagged_calls import NOTE

TOOLS = (PING, NOTE)


def call(parameters, word="function_calls"):
    return f'\n\n<｜DSML｜{word}>\n<｜DSML｜invoke name="note">\n{parameters}\n</｜DSML｜invoke>\n</｜DSML｜{word}>'


def parameter(key, value, attribute=""):
    return f'<｜DSML｜parameter name="{key}"{attribute}>{value}</｜DSML｜parameter>'


@pytest.mark.parametrize("word", ["function_calls", "tool_calls"])
def test_both_words_name_the_block(word):
    text = "Done." + call(parameter("body", "x", ' string="true"'), word)
    assert said("deepseekv32", text, tools=TOOLS) == Said("Done.", (Call("note", '{"body":"x"}'),))


@pytest.mark.parametrize(
    ("key", "value", "attribute", "expected"),
    [
        ("count", "123", ' string="true"', '"123"'),
        ("other", "123", ' string="true"', '"123"'),
        ("count", " 7 ", ' string="false"', "7"),
        ("body", "[1, 2]", ' string="false"', "[1,2]"),
        ("body", '"a"', ' string="false"', '"a"'),
        ("body", "true", ' string="false"', "true"),
        ("body", "1_000", ' string="false"', '"1_000"'),
        ("count", "7", "", "7"),
        ("body", "7", "", '"7"'),
        ("other", "7", "", "7"),
    ],
)
def test_the_attribute_decides_the_type_and_the_schema_where_there_is_none(key, value, attribute, expected):
    assert said("deepseekv32", call(parameter(key, value, attribute)), tools=TOOLS) == Said(
        "", (Call("note", f'{{"{key}":{expected}}}'),)
    )


def test_an_empty_line_is_no_argument():
    text = call("").replace("note", "ping")
    assert said("deepseekv32", text, tools=TOOLS) == Said("", (Call("ping"),))


def test_a_marker_with_an_ascii_bar_is_another_marker():
    text = call(parameter("body", "x")).replace("｜", "|")
    assert said("deepseekv32", text, tools=TOOLS) == Said(text)
