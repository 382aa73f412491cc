"""Fields are read as llama-server reads them, and refused by name."""

import pytest

from ferrox_gguf.errors import InvalidField, RequestError
from ferrox_gguf.wire.fields import boolean, integer, number, parse_body


@pytest.mark.parametrize(
    "body", [b"", b"{", b'{"a": 1', b"[1]", b'"text"', b'{"a": "\xff"}', b'{"a": "\x01"}', b"{'a': 1}"]
)
def test_a_body_that_is_not_a_json_object_is_refused(body):
    with pytest.raises(RequestError):
        parse_body(body)


def test_a_null_field_is_one_that_was_left_out():
    assert integer({"n": None}, "n", 7) == 7


@pytest.mark.parametrize(("value", "read"), [(3, 3), (3.9, 3), (-1.5, -1), (True, 1), (False, 0)])
def test_whole_numbers_are_cut_from_fractions_and_taken_from_booleans(value, read):
    assert integer({"n": value}, "n", 0) == read


@pytest.mark.parametrize("value", ["3", [3], {"a": 3}])
def test_a_number_is_never_read_from_anything_else(value):
    with pytest.raises(InvalidField) as refused:
        number({"top_p": value}, "top_p", 1.0)
    assert refused.value.field == "top_p"


def test_a_number_beyond_json_is_refused():
    with pytest.raises(RequestError):
        number(parse_body(b'{"x": 1e999}'), "x", 1.0)


@pytest.mark.parametrize("value", [1, "true", []])
def test_only_a_boolean_is_a_boolean(value):
    with pytest.raises(InvalidField):
        boolean({"stream": value}, "stream", False)


def test_a_refusal_names_the_allowed_range():
    with pytest.raises(InvalidField, match=r"between 0 and 1, but got 1\.5"):
        number({"top_p": 1.5}, "top_p", 1.0, 0, 1)
    with pytest.raises(InvalidField, match="at least 0, but got -2"):
        integer({"n_keep": -2}, "n_keep", 0, 0)
