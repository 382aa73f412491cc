"""Reading text that is still arriving.

A syntax is a generator over a Cursor: it `yield`s where it needs more text than there is and is resumed when there is
more, or when the output has ended (`end` is set; then it must return without yielding again). Everything before
`mark` is decided; a syntax that returns False gives the text from `mark` on back to be content.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from functools import lru_cache
from typing import TypeAlias, TypeVar

from ferrox_gguf.output.pieces import End

T = TypeVar("T")
Steps: TypeAlias = Generator[None, None, T]

SPACE = " \t\r\n"


class Cursor:
    """Unread text with a position.

    text: what has arrived and is not forgotten.  at: where reading stands.  mark: up to here is decided.
    reach: the farthest place looked at since the last decision (what a failed attempt has cost).
    commits: how often something was decided.  end: None while more may come.
    """

    __slots__ = ("at", "commits", "end", "mark", "reach", "text")

    def __init__(self, text: str = "") -> None:
        self.text, self.at, self.mark, self.reach, self.commits = text, 0, 0, 0, 0
        self.end: End | None = None

    def append(self, text: str) -> None:
        """More has arrived. In place where CPython can, so that a long held text does not cost its length a piece."""
        joined = self.text
        self.text = ""
        joined += text
        self.text = joined

    def forget(self) -> None:
        """Drop what was read, so that memory stays flat. Positions saved before this are void."""
        if self.at > 4096 or self.at == len(self.text):
            self.text = self.text[self.at :]
            self.at = 0

    def commit(self) -> None:
        """Decide everything read so far: it will not become content again. Positions saved before this are void."""
        self.forget()
        self.mark = self.reach = self.at
        self.commits += 1

    def back(self, at: int) -> None:
        """Return to an earlier place, to read from there as something else."""
        if self.at > self.reach:
            self.reach = self.at
        self.at = at

    def rest(self) -> str:
        return self.text[self.at :]

    def more(self) -> Steps[bool]:
        """Wait for text behind `at`. False: the output has ended and there is none."""
        while self.at >= len(self.text):
            if self.end is not None:
                return False
            yield
        return True

    def space(self) -> Steps[None]:
        """Skip white space, as far as it goes (waits until something else, or the end)."""
        while (yield from self.more()):
            at, size = self.at, len(self.text)
            while at < size and self.text[at] in SPACE:
                at += 1
            self.at = at
            if at < size:
                return

    def take(self, literal: str) -> Steps[bool]:
        """Consume `literal` if it stands here; nothing is consumed otherwise."""
        while True:
            if self.text.startswith(literal, self.at):
                self.at += len(literal)
                return True
            have = len(self.text) - self.at
            if self.end is not None or have >= len(literal) or not literal.startswith(self.text[self.at :]):
                return False
            yield

    def take_any(self, literals: Sequence[str]) -> Steps[str | None]:
        """Consume the longest of `literals` that stands here, or nothing (None). Waits while a longer one may come."""
        while True:
            found: str | None = None
            for item in literals:
                if self.text.startswith(item, self.at) and (found is None or len(item) > len(found)):
                    found = item
            if not self._may_grow(literals, found):
                self.at += len(found or "")
                return found
            yield

    def _may_grow(self, literals: Sequence[str], found: str | None) -> bool:
        if self.end is not None:
            return False
        have, least = len(self.text) - self.at, len(found or "")
        longer = [item for item in literals if len(item) > have and len(item) > least]
        return any(item.startswith(self.text[self.at :]) for item in longer) if longer else False

    def stands(self, literals: Sequence[str]) -> Steps[bool]:
        """Whether one of `literals` stands here; nothing is consumed."""
        at = self.at
        found = yield from self.take_any(literals)
        self.at = at
        return found is not None

    def until(self, stops: Sequence[str], *, limit: int | None = None) -> Steps[str | None]:
        """Text up to the first of `stops` (not consumed), or None when none stands before the end (or within `limit`).

        limit: characters.  At None nothing is consumed.
        """
        searched = self.at
        longest = max(map(len, stops))
        pattern = _first_of(tuple(stops))
        while True:
            match = pattern.search(self.text, searched)
            found = -1 if match is None else match.start()
            if found >= 0 and (limit is None or found - self.at <= limit):
                piece = self.text[self.at : found]
                self.at = found
                return piece
            if self.end is not None or found >= 0 or (limit is not None and len(self.text) - self.at > limit + longest):
                self.reach = max(self.reach, len(self.text) if limit is None else self.at + limit)
                return None
            searched = max(self.at, len(self.text) - longest + 1)
            yield


@lru_cache(maxsize=256)
def _first_of(stops: tuple[str, ...]) -> re.Pattern[str]:
    """One search for all, so that a stop that never comes does not cost the whole text at every word."""
    return re.compile("|".join(map(re.escape, stops)))


def held(text: str, markers: Sequence[str]) -> int:
    """Length of the longest tail of `text` that is a proper prefix of one of `markers`; 0 for none."""
    best = 0
    for marker in markers:
        for size in range(min(len(marker) - 1, len(text)), best, -1):
            if text.endswith(marker[:size]):
                best = size
                break
    return best
