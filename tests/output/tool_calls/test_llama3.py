from __future__ import annotations

import pytest
from support.calls import Call, Said, said, splitter

from ferrox_gguf.events import ContentDelta


def test_an_object_at_the_start_that_names_a_tool_is_a_call():
    text = '\n{"name": "ping", "parameters": {"a": "b"}}'
    assert said("llama3", text) == Said("", (Call("ping", '{"a":"b"}'),))


@pytest.mark.parametrize("object", ['{"type": "function", "name": "ping", "parameters": {}}', '{"name": "ping"}'])
def test_a_calls_fields_and_nothing_else_are_a_call(object):
    assert said("llama3", object) == Said("", (Call("ping"),))


@pytest.mark.parametrize(
    "text",
    [
        '{"temperature": 21}',
        '{"name": "ping", "age": 3}',
        '{"name": "Ada", "parameters": {}}',
        'Sure: {"name": "ping", "parameters": {}}',
        '```json\n{"name": "ping", "parameters": {}}\n```',
        '[{"name": "ping", "parameters": {}}]',
        '<|python_tag|>brave_search.call(query="x")',
        "{",
    ],
)
def test_other_json_and_the_built_in_tools_are_text(text):
    assert said("llama3", text) == Said(text)


def test_an_answer_in_json_is_not_held_to_its_end():
    machine = splitter("llama3")
    assert machine.push('{"temperature": ') == [ContentDelta('{"temperature":')]


@pytest.mark.parametrize("separator", ["; ", ",", "\n", ""])
def test_objects_are_separated_in_several_ways(separator):
    text = '{"name": "ping", "parameters": {}}' + separator + '{"name": "book_table", "parameters": {"n": 1}}'
    for tag in ("", "<|python_tag|>"):
        assert said("llama3", tag + text) == Said("", (Call("ping"), Call("book_table", '{"n":1}')))


def test_a_separator_with_text_behind_it_is_text():
    text = '{"name": "ping", "parameters": {}}; and so on'
    assert said("llama3", text) == Said("; and so on", (Call("ping"),))


def test_the_tag_begins_a_call_behind_text_too():
    text = 'sure<|python_tag|>{"name": "ping", "arguments": {}}'
    assert said("llama3", text) == Said("sure", (Call("ping"),))
