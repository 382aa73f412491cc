"""Where a value ends that is not quite JSON (`NaN`, `True`, a `\\d` in a string)."""

from __future__ import annotations

import re

_IN_STRING = re.compile(r'["\\]')
_OUTSIDE = re.compile(r'["{}\[\]]')


class Nesting:
    """Goes by brackets and quotes alone.

    depth, in_string: where the value stopped being JSON.
    """

    __slots__ = ("_depth", "_escaped", "_in_string")

    def __init__(self, depth: int, in_string: bool) -> None:
        self._depth, self._in_string = depth, in_string
        self._escaped = False

    def end(self, text: str, at: int, stop: int) -> int | None:
        """Read text[at:stop]; the position behind the bracket that closes the value, or None: further on."""
        while at < stop:
            if self._escaped:
                self._escaped = False
                at += 1
                continue
            match = (_IN_STRING if self._in_string else _OUTSIDE).search(text, at, stop)
            if match is None:
                return None
            char, at = match.group(), match.end()
            if char == '"':
                self._in_string = not self._in_string
            elif char == "\\":
                self._escaped = True
            elif char in "{[":
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth <= 0:
                    return at
        return None
