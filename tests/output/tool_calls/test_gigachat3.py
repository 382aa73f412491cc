from __future__ import annotations

from support.calls import Call, Said, said

CALL = '<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "ping", "arguments": {"a": "Тверь"}}'


def test_a_call_is_a_message_of_its_own_role():
    assert said("gigachat3", "Бронирую." + CALL) == Said("Бронирую.", (Call("ping", '{"a":"Тверь"}'),))


def test_the_separator_behind_everything_is_the_messages_end():
    assert said("gigachat3", "Привет.<|message_sep|>") == Said("Привет.")
    assert said("gigachat3", CALL + "<|message_sep|>\n\n") == Said("", (Call("ping", '{"a":"Тверь"}'),))


def test_another_role_behind_the_separator_is_text():
    text = "Привет.<|message_sep|>\n\nuser<|role_sep|>\nНет."
    assert said("gigachat3", text) == Said(text)
