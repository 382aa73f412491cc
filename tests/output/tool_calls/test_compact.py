"""JSON on its way through, at every cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.calls import pieces

from ferrox_gguf.output.tool_calls.compact import MAX_DEPTH, CompactJson

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | numbers | st.text()
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)
objects = st.dictionaries(st.text(), values, max_size=4)
cuts = st.lists(st.integers(0, 400), max_size=6)


def compact(value: object, ascii: bool = False) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=ascii)


def fed(texts: list[str]) -> tuple[CompactJson, str]:
    machine, out = CompactJson(), []
    for text in texts:
        _, fragment = machine.feed(text)
        out.append(fragment)
    return machine, "".join(out)


@given(objects, cuts, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_white_space_goes_and_everything_else_stays(value, places, indent, ascii):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii)
    machine, out = fed(pieces(text, places))
    assert machine.done
    assert out == compact(value, ascii)


@given(objects, st.integers(0, 400), cuts)
def test_whatever_was_given_out_can_be_closed_into_valid_json(value, length, places):
    text = json.dumps(value)[:length]
    machine, out = fed(pieces(text, places))
    if not text:
        return
    assert isinstance(json.loads(out + machine.close()), dict)
    assert machine.done


@given(objects, st.integers(1, 400), cuts)
def test_output_that_was_cut_is_a_prefix_of_the_whole(value, length, places):
    text = json.dumps(value)[:length]
    machine, out = fed(pieces(text, places))
    cut = out + machine.cut()
    assert compact(value, ascii=True).startswith(cut)
    assert cut.replace(" ", "") == text.replace(" ", "")


@given(st.text(), cuts)
def test_no_text_raises_and_cuts_do_not_matter(text, places):
    whole, joined = CompactJson(), []
    stopped, out = whole.feed(text)
    machine, at = CompactJson(), 0
    for piece in pieces(text, places):
        if machine.done or machine.failed:
            break
        stop, fragment = machine.feed(piece)
        at += stop
        joined.append(fragment)
    assert ("".join(joined), at, machine.done, machine.failed) == (out, stopped, whole.done, whole.failed)


@pytest.mark.parametrize(
    ("text", "stop"),
    [
        ("NaN", 0),
        ("nan", 1),
        ("1_000", 1),
        ("٣", 0),
        ("+1", 0),
        ("01", 1),
        (".5", 0),
        ("'a'", 0),
        ("True", 0),
        ("1,]", 2),
        ('{"a":1,}', 7),
        ("{1:2}", 1),
        ('"\\x"', 2),
        ('"\\u12g4"', 5),
    ],
)
def test_what_json_does_not_know_fails_at_the_first_impossible_character(text, stop):
    machine = CompactJson()
    at, _ = machine.feed(f"[{text}]")
    assert (machine.failed, at - 1) == (True, stop)


def test_a_number_is_given_out_digit_by_digit_but_never_half():
    machine = CompactJson()
    given_out = [machine.feed(char)[1] for char in "[-12.5e+3]"]
    assert given_out == ["[", "", "-1", "2", "", ".5", "", "", "e+3", "]"]


def test_depth_is_bounded():
    machine = CompactJson()
    at, _ = machine.feed("[" * (MAX_DEPTH + 5))
    assert (machine.failed, at) == (True, MAX_DEPTH)


def test_raw_control_characters_in_strings_are_escaped():
    assert CompactJson().feed('"a\n\r\t\b\f\x00\x1f"')[1] == '"a\\n\\r\\t\\b\\f\\u0000\\u001f"'
