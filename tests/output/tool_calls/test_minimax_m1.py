from __future__ import annotations

from support.calls import Call, Said, said


def test_one_object_a_line():
    text = (
        '<tool_calls>\n{"name": "ping", "arguments": {"a": 1}}\n{"name": "book_table", "arguments": {}}\n</tool_calls>'
    )
    assert said("minimax_m1", text) == Said("", (Call("ping", '{"a":1}'), Call("book_table")))


def test_the_closer_ends_a_call_whose_brace_was_dropped():
    text = '<tool_calls>\n{"name": "ping", "arguments": {"a": 1\n</tool_calls>'
    assert said("minimax_m1", text) == Said("", (Call("ping", '{"a":1}'),))
