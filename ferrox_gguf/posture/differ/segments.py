"""Text cut into markers and what stands between them, so that no comparison ever cuts a marker in half.

`<tool_call>` against `<tool_response>` share `<tool_`; as segments they share nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# A marker from < to > or from [ to ]; the open half of one that the text was cut in; white space; anything else.
_SEGMENT = re.compile(r"<[^<>\s][^<>]*>|\[[A-Z/|][^\[\]\n]*\]|<[^<>\s]*|\s+|[^<\[\s]+|[<\[]")
_MARKER = re.compile(r"<[^<>\s][^<>]*>|\[[A-Z/|][^\[\]\n]*\]")


def segments(text: str) -> list[str]:
    """Every character is in exactly one segment."""
    return _SEGMENT.findall(text)


def is_marker(segment: str) -> bool:
    """Is this segment a whole marker?"""
    return _MARKER.fullmatch(segment) is not None


def markers(text: str) -> list[str]:
    """The whole markers in the text, in order."""
    return _MARKER.findall(text)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two texts without what they share at both ends."""

    before: str
    left: str
    right: str
    after: str


def difference(left: str, right: str) -> Difference:
    """What changed from left to right, in whole segments."""
    first, second = segments(left), segments(right)
    front = shared_start(first, second)
    back = shared_end(first[front:], second[front:])
    return Difference(
        "".join(first[:front]),
        "".join(first[front : len(first) - back]),
        "".join(second[front : len(second) - back]),
        "".join(first[len(first) - back :]),
    )


def shared_start(first: Sequence[str], second: Sequence[str]) -> int:
    """How many segments both begin with."""
    count = 0
    while count < min(len(first), len(second)) and first[count] == second[count]:
        count += 1
    return count


def shared_end(first: Sequence[str], second: Sequence[str]) -> int:
    """How many segments both end with."""
    return shared_start(first[::-1], second[::-1])
