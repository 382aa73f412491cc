"""Stop strings: text that ends the answer and is not shown."""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.output.lookout import Lookout


class StopFinder:
    """push() returns the text that is certainly before any stop string; flush() gives up what was held.

    The string that is complete first wins, so where the chunks were cut does not matter; of two that are complete at
    once, the longer.  hit: it, once found (nothing is returned after it).
    cut: characters that arrived and are not shown, the stop string included.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = tuple(dict.fromkeys(word for word in words if word))
        self._lookout = Lookout(self._words)
        self._longest = max(map(len, self._words), default=0)
        self._held = ""
        self.hit: str | None = None
        self.cut = 0

    def push(self, text: str) -> str:
        if self.hit is not None:
            self.cut += len(text)
            return ""
        if not self._held and self._lookout.suspect(text) is None:
            return text
        text = self._held + text
        if (first := self._first(text)) is not None:
            start, self.hit = first
            self._held = ""
            self.cut = len(text) - start
            return text[:start]
        start, _ = self._lookout.find(text)
        self._held = text[start:]
        return text[:start]

    def flush(self) -> str:
        held, self._held = self._held, ""
        return held

    def _first(self, text: str) -> tuple[int, str] | None:
        found = ((text.find(word), word) for word in self._words)
        ends = [(start + len(word), start, word) for start, word in found if start >= 0]
        if not ends:
            return None
        _, start, word = min(ends)
        return start, word
