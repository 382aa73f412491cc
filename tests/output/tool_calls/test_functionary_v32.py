from __future__ import annotations

import pytest
from support.calls import Call, Said, said


def test_the_recipient_of_text_is_a_header():
    assert said("functionary_v32", "all\nHi there.") == Said("Hi there.")


def test_it_is_one_without_tools_too():
    assert said("functionary_v32", "all\nHi >>> there.", tools=()) == Said("Hi >>> there.")


def test_a_call_may_be_the_first_part():
    text = 'ping\n{"a": ">>>book_table\\n{}"}>>>book_table\n{}'
    assert said("functionary_v32", text) == Said("", (Call("ping", '{"a":">>>book_table\\n{}"}'), Call("book_table")))


def test_text_then_calls_then_text():
    text = "all\nOne sec.>>>ping\n{}>>>all\nDone."
    assert said("functionary_v32", text) == Said("One sec.Done.", (Call("ping"),))


@pytest.mark.parametrize(
    "text", ["format_disk\n{}", "ping\nno json", "allright\n", "ping", ">>> 1 + 1\n2", "python\nprint(1)"]
)
def test_other_lines_are_text(text):
    assert said("functionary_v32", text) == Said(text)


def test_a_continued_answer_has_no_header():
    assert said("functionary_v32", " it is so.\nAll\nof it.") == Said(" it is so.\nAll\nof it.")
