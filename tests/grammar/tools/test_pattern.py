"""A schema's expressions as llguidance's."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrox_gguf.grammar.tools.pattern import searched, without


def compiled(regex: str) -> re.Pattern[str]:
    """llguidance's spelling of characters as Python's."""
    return re.compile(re.sub(r"\\x\{([0-9a-f]+)\}", lambda match: re.escape(chr(int(match[1], 16))), regex))


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("ab", "xaby", "xay"),
        ("^ab", "aby", "xab"),
        ("ab$", "xab", "aby"),
        ("^a|b$", "ax", "xbx"),
        ("^$", "", "a"),
        (r"^\d\w$", "1_", "1-"),
        (r"^[\d.]/x$", "./x", "a/x"),
        (r"^a\|b$", "a|b", "a"),
        ("^[|^$]$", "|", "a"),
    ],
)
def test_a_pattern_is_searched_for_unless_it_is_anchored(pattern: str, inside: str, outside: str) -> None:
    regex = compiled(searched(pattern).replace(r"\/", "/"))
    assert regex.fullmatch(inside)
    assert not regex.fullmatch(outside)


MARKERS = ["</p>", "<|end|>", "</para>"]


@given(st.lists(st.sampled_from([*MARKERS, "<", "</", "p", ">", "<|", "end", "x"]), max_size=9).map("".join))
def test_strings_are_let_through_exactly_if_they_hold_no_marker(text: str) -> None:
    (pattern,) = without(MARKERS)
    assert (compiled(pattern).fullmatch(text) is not None) is not any(marker in text for marker in MARKERS)


@given(st.lists(st.sampled_from(["]<]m[>[</k>", "]<]m[>[", "]", "<", "/k>", "x"]), max_size=9).map("".join))
def test_a_marker_that_repeats_its_first_character_is_kept_out_by_a_part_of_it(text: str) -> None:
    patterns = without(["]<]m[>[</k>"])
    if "]<]m[>[</k>" in text:
        assert not all(compiled(pattern).fullmatch(text) for pattern in patterns)


def test_one_character_can_be_kept_out() -> None:
    (pattern,) = without(["<", "</p>"])
    assert compiled(pattern).fullmatch("a>b")
    assert not compiled(pattern).fullmatch("a<b")
