from __future__ import annotations

import pytest
from support.calls import Call, Said, said


def test_calls_abut():
    text = 'Ok.<function=ping>{"a": 1}</function><function=book_table>{}</function>'
    assert said("functionary_v31", text) == Said("Ok.", (Call("ping", '{"a":1}'), Call("book_table")))


@pytest.mark.parametrize(
    "text", ["#include <functional>", "<function=ping>now</function>", "<function=", "<function=ping"]
)
def test_what_merely_looks_like_a_call_is_text(text):
    assert said("functionary_v31", text) == Said(text)


def test_nothing_between_the_tags_is_a_call_without_arguments():
    assert said("functionary_v31", "<function=ping></function>") == Said("", (Call("ping"),))
