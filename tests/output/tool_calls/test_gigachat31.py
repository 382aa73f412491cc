from __future__ import annotations

from support.calls import Call, Said, said


def test_a_call_behind_text():
    text = 'Бронирую.<|function_call|>{"name": "ping", "arguments": {"a": 1}}'
    assert said("gigachat31", text) == Said("Бронирую.", (Call("ping", '{"a":1}'),))


def test_two_calls_with_a_marker_each():
    call = '<|function_call|>{"name": "ping", "arguments": {}}'
    assert said("gigachat31", f"{call}\n{call}") == Said("", (Call("ping"), Call("ping")))
