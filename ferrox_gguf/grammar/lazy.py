"""Where a lazy grammar wakes: llama-server's triggers, found by a text machine of our own.

Words are searched as literals, patterns by RE2 (linear time: no caller's expression can hold the engine thread).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import re2

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.request import GrammarTrigger

WINDOW = 1 << 16
"""Bytes of output that a pattern sees. A trigger that spans more is not one."""


class TriggerGate:
    """Opens at the first trigger; the trigger's own text is part of the constraint.

    A pattern's first group says where that text begins (the whole match without one). piece: bytes of a token.
    Raises InvalidField for a pattern that RE2 does not take.
    """

    def __init__(self, triggers: Sequence[GrammarTrigger], piece: Callable[[int], bytes]) -> None:
        self._piece = piece
        self._text = b""
        self._tokens = frozenset(t.token for t in triggers if t.token is not None)
        self._words = tuple(t.value.encode() for t in triggers if t.kind == "word")
        self._patterns = tuple(
            (_compile(t.value), t.kind == "pattern_full") for t in triggers if t.kind in ("pattern", "pattern_full")
        )
        self._longest = max(map(len, self._words), default=1)

    def stays(self) -> Sequence[int] | None:
        return None

    def pending(self) -> bytes:
        return b""

    def tail(self, token: int) -> bytes | None:
        piece = self._piece(token)
        if token in self._tokens:
            return piece
        text = self._text + piece
        starts = [at for at in map(text.find, self._words) if at >= 0]
        for pattern, full in self._patterns:
            match = pattern.fullmatch(text) if full else pattern.search(text)
            if match is not None:
                starts.append(
                    next((match.start(i) for i in range(1, pattern.groups + 1) if match.start(i) >= 0), match.start())
                )
        return text[min(starts) :] if starts else None

    def observe(self, token: int) -> None:
        keep = WINDOW if self._patterns else self._longest
        self._text = (self._text + self._piece(token))[-keep:]


def _compile(source: str) -> Any:
    options = re2.Options()
    options.max_mem = 8 << 20
    options.log_errors = False
    try:
        return re2.compile(source.encode(), options)
    except re2.error as error:
        raise InvalidField("grammar_triggers", f"the pattern {source!r} cannot be used: {error}") from error
