from __future__ import annotations

from support.calls import Call, Said, said


def test_the_line_break_behind_the_section_goes():
    text = '<TOOLCALL>[{"name": "ping", "arguments": {}}]</TOOLCALL>\n'
    assert said("nemotron_v2", text) == Said("", (Call("ping"),))


def test_the_lists_bracket_may_be_missing():
    text = '<TOOLCALL>[{"name": "ping", "arguments": {"a": 1}}</TOOLCALL>'
    assert said("nemotron_v2", text) == Said("", (Call("ping", '{"a":1}'),))


def test_the_closer_may_be_missing():
    assert said("nemotron_v2", '<TOOLCALL>[{"name": "ping", "arguments": {}}]') == Said("", (Call("ping"),))
