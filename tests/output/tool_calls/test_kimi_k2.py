from __future__ import annotations

from support.calls import Call, Said, said

from ferrox_gguf.request import Tool

SECTION, CALL, ARGS = "<|tool_calls_section_begin|>", "<|tool_call_begin|>", "<|tool_call_argument_begin|>"
END, SECTION_END = "<|tool_call_end|>", "<|tool_calls_section_end|>"


def test_the_head_is_the_calls_id():
    text = f"{SECTION}{CALL}functions.ping:12{ARGS}{{}}{END}{SECTION_END}"
    assert said("kimi_k2", text) == Said("", (Call("ping", id="functions.ping:12"),))


def test_section_markers_and_ends_may_be_missing():
    text = f'{CALL}functions.ping:0{ARGS}{{"a": 1}}{CALL}functions.book_table:1{ARGS}{{}}'
    assert said("kimi_k2", text) == Said(
        "", (Call("ping", '{"a":1}', "functions.ping:0"), Call("book_table", id="functions.book_table:1"))
    )


def test_a_section_end_without_its_beginning_is_markup_behind_a_call():
    text = f"{CALL}functions.ping:0{ARGS}{{}}{END}{SECTION_END}ok"
    assert said("kimi_k2", text) == Said("ok", (Call("ping", id="functions.ping:0"),))


def test_a_bare_name_is_a_call_and_no_id():
    assert said("kimi_k2", f"{CALL}ping{ARGS}{{}}{END}") == Said("", (Call("ping"),))


def test_dots_in_a_name_belong_to_it():
    tools = (Tool("files.read"),)
    text = f"{CALL}functions.files.read:3{ARGS}{{}}{END}"
    assert said("kimi_k2", text, tools=tools) == Said("", (Call("files.read", id="functions.files.read:3"),))
