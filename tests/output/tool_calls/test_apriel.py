from __future__ import annotations

from support.calls import Call, Said, said


def test_a_list_of_calls_and_text_around_it():
    text = 'Two. <tool_calls>[{"name": "ping", "arguments": {}},\n{"name": "ping", "arguments": {}}]</tool_calls> So.'
    assert said("apriel", text) == Said("Two. So.", (Call("ping"), Call("ping")))


def test_a_trailing_comma_in_the_list_is_layout():
    text = '<tool_calls>[{"name": "ping", "arguments": {}}, ]</tool_calls>'
    assert said("apriel", text) == Said("", (Call("ping"),))


def test_an_empty_list_is_text():
    assert said("apriel", "<tool_calls>[]</tool_calls>") == Said("<tool_calls>[]</tool_calls>")
