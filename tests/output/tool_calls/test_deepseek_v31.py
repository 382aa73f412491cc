from __future__ import annotations

from support.calls import Call, Said, said

SECTION, CALL, SEP = "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>"
END, SECTION_END = "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"


def test_a_call_without_separator_and_arguments_has_none():
    assert said("deepseek_v31", f"{SECTION}{CALL}ping{END}{SECTION_END}") == Said("", (Call("ping"),))


def test_the_next_call_closes_one_that_was_left_open():
    text = f'{SECTION}{CALL}ping{SEP}{{"a": [1{CALL}book_table{SEP}{{}}{END}{SECTION_END}'
    assert said("deepseek_v31", text) == Said("", (Call("ping", '{"a":[1]}'), Call("book_table")))


def test_something_odd_in_a_calls_markers_is_text_and_the_next_call_is_a_call():
    text = f"{SECTION}{CALL}hm{CALL}ping{SEP}{{}}{END}{SECTION_END}"
    assert said("deepseek_v31", text) == Said(f"{CALL}hm", (Call("ping"),))


def test_ascii_look_alikes_are_text():
    text = "<|tool_calls_begin|><|tool_call_begin|>ping<|tool_sep|>{}<|tool_call_end|>"
    assert said("deepseek_v31", text) == Said(text)
