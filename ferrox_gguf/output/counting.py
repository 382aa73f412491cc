"""How many tokens were spent on thinking: exactly, from the tokens that generation produced.

A token counts when any of its characters is the thought's or its markup's (required behaviours C2, C8, C12). A token
without characters of its own (a part of a character, a hidden control token) goes with the character that comes next.
"""

from __future__ import annotations

from collections import deque


class ReasoningTokens:
    """Tokens come in with arrived(), what their text is comes later with classified(), both in order.

    waiting: where the text of each token ends that is not classified yet. While there is none, a token that is wholly
    of one kind need not come in here: its count is enough.
    """

    def __init__(self) -> None:
        self.count = 0
        self.waiting: deque[int] = deque()
        self._arrived = 0
        self._decided = 0
        self._straddles = False  # the first unsettled token has a reasoning character already

    def arrived(self, length: int, tokens: int = 1) -> None:
        """A token brought so many characters (tokens 0: they belong to the tokens before)."""
        self._arrived += length
        if tokens:
            self.waiting.append(self._arrived)
        elif self.waiting:
            self.waiting[-1] = self._arrived

    def classified(self, length: int, thought: bool) -> None:
        """The next so many characters belong to the thought, or do not."""
        if not length:
            return
        ends, start = self.waiting, self._decided
        stop = self._decided = start + length
        while ends and ends[0] <= stop:
            # A token without text at the very end of this run waits for the next character.
            if ends[0] == stop == start:
                break
            start = ends.popleft()
            if thought or self._straddles:
                self.count += 1
            self._straddles = False
        if thought and ends and ends[0] > stop and start < stop:
            self._straddles = True

    def finish(self, thinking: bool) -> None:
        """No more text: what had none belongs to where the output stood."""
        if thinking or self._straddles:
            self.count += len(self.waiting) if thinking else 1
        self.waiting.clear()
        self._straddles = False
