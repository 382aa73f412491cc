"""`n_indent`: an answer ends in front of the first line that is indented less than asked. For filling in code.

The line that the prompt began is not judged.
"""

from __future__ import annotations


class Indentation:
    """Fed the answer of one choice, piece by piece. minimum: blanks and tabs in front of each line."""

    def __init__(self, minimum: int) -> None:
        self._minimum = minimum
        self._margin: int | None = None  # blanks seen at the start of the current line; None further on

    def end(self, text: str) -> int | None:
        """How much of this text still belongs to the answer; None when all of it does and generation goes on."""
        for at, char in enumerate(text):
            if char == "\n":
                self._margin = 0
            elif self._margin is not None:
                if char in " \t":
                    self._margin += 1
                elif self._margin < self._minimum:
                    return at
                else:
                    self._margin = None
        return None
