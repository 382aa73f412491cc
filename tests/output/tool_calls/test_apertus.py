from __future__ import annotations

from support.calls import Call, Said, said


def test_the_functions_name_is_the_key():
    text = '<|tools_prefix|>[{"ping": {"a": 1}}, {"book_table": {}}]<|tools_suffix|>'
    assert said("apertus", text) == Said("", (Call("ping", '{"a":1}'), Call("book_table")))


def test_two_names_in_one_object_are_two_calls():
    text = '<|tools_prefix|>[{"ping": {"a": 1}, "book_table": {}}]<|tools_suffix|>'
    assert said("apertus", text) == Said("", (Call("ping", '{"a":1}'), Call("book_table")))


def test_the_suffix_may_be_missing():
    assert said("apertus", '<|tools_prefix|>[{"ping": {}}]') == Said("", (Call("ping"),))
