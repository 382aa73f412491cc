from __future__ import annotations

import pytest
from support.calls import Call, Said, said


@pytest.mark.behaviour("O7")
def test_two_blocks_are_two_calls():
    text = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>\n<tool_call>{"name": "book_table"}</tool_call>'
    assert said("qwen25", text) == Said("", (Call("ping"), Call("book_table")))


@pytest.mark.behaviour("O4")
def test_arguments_are_compact_json():
    text = '<tool_call>{"name": "ping", "arguments": {"city": "Rome"}}</tool_call>'
    assert said("qwen25", text) == Said("", (Call("ping", '{"city":"Rome"}'),))


def test_a_block_may_hold_several_objects_or_a_list():
    two = (Call("ping"), Call("book_table", '{"n":1}'))
    objects = '{"name": "ping", "arguments": {}}', '{"name": "book_table", "arguments": {"n": 1}}'
    for inside in ("\n".join(objects), "[" + ",\n".join(objects) + "]", "```json\n" + "\n".join(objects) + "\n```"):
        assert said("qwen25", f"<tool_call>\n{inside}\n</tool_call>") == Said("", two)


def test_the_next_block_ends_one_that_was_left_open():
    text = (
        '<tool_call>{"name": "ping", "arguments": {"a": 1<tool_call>{"name": "book_table", "arguments": {}}</tool_call>'
    )
    assert said("qwen25", text) == Said("", (Call("ping", '{"a":1}'), Call("book_table")))


def test_a_closer_written_twice_is_markup():
    text = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>\n</tool_call>\nDone.'
    assert said("qwen25", text) == Said("Done.", (Call("ping"),))


def test_fields_may_come_in_any_order_and_others_are_skipped():
    text = '<tool_call>{"type": "function", "arguments": {"a": 1}, "x": [{}], "name": "ping"}</tool_call>'
    assert said("qwen25", text) == Said("", (Call("ping", '{"a":1}'),))


def test_parameters_is_another_word_for_arguments():
    assert said("qwen25", '<tool_call>{"name": "ping", "parameters": {"a": 1}}</tool_call>') == Said(
        "", (Call("ping", '{"a":1}'),)
    )


def test_a_name_written_twice_over_is_the_name():
    assert said("qwen25", '<tool_call>{"name": "ping.ping", "arguments": {}}</tool_call>') == Said("", (Call("ping"),))


def test_the_marker_in_prose_is_prose():
    text = 'Write <tool_call> and then {"name": "ping"} or </tool_call>.'
    assert said("qwen25", text) == Said(text)


def test_raw_line_breaks_in_strings_are_escaped():
    text = '<tool_call>{"name": "ping", "arguments": {"a": "x\n\ty\x01"}}</tool_call>'
    assert said("qwen25", text) == Said("", (Call("ping", '{"a":"x\\n\\ty\\u0001"}'),))
