"""Finding any of several markers in text that is still arriving."""

from __future__ import annotations

import re
from collections.abc import Sequence


class Lookout:
    """A fixed set of markers to look for.

    suspect(text): could a marker begin in it? A cheap test, for text that needs no closer look.
    """

    def __init__(self, markers: Sequence[str]) -> None:
        # Longest first: of two that begin at one place the longer one is meant.
        self.markers = tuple(sorted({marker for marker in markers if marker}, key=len, reverse=True))
        self._any = re.compile("|".join(map(re.escape, self.markers)) or "(?!)")
        self._partial = re.compile("|".join(_prefixes(marker) for marker in self.markers if len(marker) > 1) or "(?!)")
        self._reach = max((len(marker) for marker in self.markers), default=1) - 1
        firsts = "".join(sorted({re.escape(marker[0]) for marker in self.markers}))
        self.suspect = re.compile(f"[{firsts}]" if firsts else "(?!)").search

    def find(self, text: str, start: int = 0, *, ended: bool = False) -> tuple[int, str]:
        """Where the first marker begins, and which; ("" when there is none) where a tail begins that may become one.

        A marker that may still grow into a longer one is not found until it cannot (or the text has ended).
        """
        found = self._any.search(text, start)
        limit = len(text)
        if not ended:
            tail = self._partial.search(text, max(start, limit - self._reach))
            if tail is not None and (found is None or tail.start() <= found.start()):
                return tail.start(), ""
        if found is None:
            return limit, ""
        return found.start(), found.group()

    def at(self, text: str, start: int, *, ended: bool = False) -> tuple[str, bool]:
        """The marker that stands exactly here (or ""), and whether more text could still change the answer."""
        if not ended:
            rest = text[start : start + self._reach + 1]
            if any(len(marker) > len(rest) and marker.startswith(rest) for marker in self.markers):
                return "", True
        found = self._any.match(text, start)
        return (found.group() if found is not None else ""), False


def _prefixes(marker: str) -> str:
    """A pattern for every proper prefix of `marker` at the very end of the text."""
    pattern = ""
    for char in reversed(marker[:-1]):
        pattern = re.escape(char) + (f"(?:{pattern})?" if pattern else "")
    return rf"(?:{pattern})\Z"
