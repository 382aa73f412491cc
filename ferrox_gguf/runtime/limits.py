"""Limits that are judged by the answer's text: time (`t_max_predict_ms`) and indentation (`n_indent`).

Both are for filling in code. The first ends generation at a line break after its time; the second in front of the first
line that is indented less than asked. The line that the prompt began is not judged.
"""

from __future__ import annotations

from ferrox_gguf.request import Generation


class TextLimits:
    """Fed the answer of one choice, piece by piece."""

    def __init__(self, generation: Generation) -> None:
        self._time_ms, self._indent = generation.t_max_predict_ms, generation.n_indent
        self._margin: int | None = None  # white space seen at the start of the current line; None further on

    @property
    def active(self) -> bool:
        return self._time_ms > 0 or self._indent > 0

    def end(self, text: str, predicted_ms: float) -> int | None:
        """How much of this text is still within the limits; None when all of it is and generation goes on."""
        for at, char in enumerate(text):
            if char == "\n":
                if 0 < self._time_ms < predicted_ms:
                    return at + 1
                self._margin = 0
            elif self._margin is not None:
                if char in " \t":
                    self._margin += 1
                elif self._margin < self._indent:
                    return at
                else:
                    self._margin = None
        return None
