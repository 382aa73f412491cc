from __future__ import annotations

from support.calls import CUT, Call, Said, said, splitter

from ferrox_gguf.events import ToolCallArguments


def test_the_id_behind_the_arguments_is_kept():
    text = '[TOOL_CALLS][{"name": "ping", "arguments": {"a": 1}, "id": "a1b2c3d4e"}]'
    assert said("mistral", text) == Said("", (Call("ping", '{"a":1}', "a1b2c3d4e"),))


def test_an_id_before_the_arguments_is_kept_and_they_stream():
    machine = splitter("mistral")
    machine.push('[TOOL_CALLS][{"id": "a1b2c3d4e", "name": "ping", "arguments": {"a": "')
    assert machine.push("word") == [ToolCallArguments(0, "word")]


def test_long_arguments_stream_and_leave_the_id_to_the_server():
    long = "x" * 600
    text = f'[TOOL_CALLS][{{"name": "ping", "arguments": {{"a": "{long}"}}, "id": "a1b2c3d4e"}}] ok'
    assert said("mistral", text) == Said("ok", (Call("ping", f'{{"a":"{long}"}}'),))


def test_a_space_before_the_list_is_layout():
    assert said("mistral", 'ok [TOOL_CALLS] [{"name": "ping", "arguments": {}}]') == Said("ok", (Call("ping"),))


def test_the_list_ends_itself():
    text = '[TOOL_CALLS][{"name": "ping", "arguments": {}}] Then [a link](b).'
    assert said("mistral", text) == Said("Then [a link](b).", (Call("ping"),))


def test_the_lists_end_closes_a_call_whose_braces_were_dropped():
    assert said("mistral", '[TOOL_CALLS][{"name": "ping", "arguments": {"a": 1]') == Said(
        "", (Call("ping", '{"a":1}'),)
    )


def test_an_id_that_was_cut_is_none_and_the_call_is_whole():
    text = '[TOOL_CALLS][{"name": "ping", "arguments": {"a": 1}, "id": "a1b'
    assert said("mistral", text, end=CUT) == Said("", (Call("ping", '{"a":1}'),))


def test_an_id_that_no_client_could_be_sent_is_none():
    text = '[TOOL_CALLS][{"name": "ping", "arguments": {}, "id": "\\ud800"}]'
    assert said("mistral", text) == Said("", (Call("ping"),))
