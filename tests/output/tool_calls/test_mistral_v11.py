from __future__ import annotations

from support.calls import CUT, Call, Said, said


def test_ids_are_kept_where_the_model_writes_them():
    text = '[TOOL_CALLS]ping[CALL_ID]000000001[ARGS]{"a": 1}[TOOL_CALLS]book_table[ARGS]{}'
    assert said("mistral_v11", text) == Said("", (Call("ping", '{"a":1}', "000000001"), Call("book_table")))


def test_a_second_call_that_never_started_stays_text():
    text = "[TOOL_CALLS]ping[ARGS]{}[TOOL_CALLS]boo"
    assert said("mistral_v11", text, end=CUT) == Said("[TOOL_CALLS]boo", (Call("ping"),))


def test_the_marker_in_prose_is_prose():
    text = "[TOOL_CALLS] is written before ping, [ARGS] behind it."
    assert said("mistral_v11", text) == Said(text)


def test_the_next_call_closes_one_that_was_left_open():
    text = '[TOOL_CALLS]ping[ARGS]{"a": {"b": 1[TOOL_CALLS]ping[ARGS]{}'
    assert said("mistral_v11", text) == Said("", (Call("ping", '{"a":{"b":1}}'), Call("ping")))
