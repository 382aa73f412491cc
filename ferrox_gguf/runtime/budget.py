"""How long a thought may be: counts its tokens where they are drawn, and closes it when they are used up.

The thought is told from the answer by the same chain that splits the output, so parser and count stay in step with
what is forced here. A person can also end a running thought (`/v1/chat/completions/control`).
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from ferrox_gguf.output.chain import OutputChain
from ferrox_gguf.output.detokenizer import Detokenizer, PieceTable
from ferrox_gguf.output.runs import Phase
from ferrox_gguf.posture.values import Posture, ReasoningStyle

HARMONY_ANSWER = "<|end|><|start|>assistant<|channel|>final<|message|>"
"""Harmony has no closer: the next message, addressed to the user, ends the thought."""


class ThoughtBudget:
    """A Guide. Engine thread only, but for end().

    limit: tokens of the thought, markers not counted; None for no limit.  closing: the forced message and closer.
    table: pieces, for the engine thread alone.
    """

    finished = False

    def __init__(self, chain: OutputChain, table: PieceTable, *, limit: int | None, closing: Sequence[int]) -> None:
        self._chain, self._table, self._detokenizer = chain, table, Detokenizer(table)
        self._limit, self._closing = limit, tuple(closing)
        self._spent = 0
        self._forced: tuple[int, ...] = ()
        self._half = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._asked = False
        self._used_up()

    def end(self) -> None:
        """Close the running thought at the next token. From any thread."""
        self._asked = True

    def forced(self) -> Sequence[int]:
        return self._forced

    def allows(self, token: int) -> bool:
        return True

    def mask(self) -> bytes | None:
        return None

    def accept(self, token: int) -> None:
        thinking = self._chain.phase is Phase.THINKING
        self._chain.push(self._detokenizer.push((token,)))
        self._half.decode(self._table.add(token)[0])
        if self._forced:
            self._forced = self._forced[1:]
            return
        self._spent += thinking
        self._used_up()

    def _used_up(self) -> None:
        """Force the closer if it is time, but never between the bytes of one character."""
        if self._chain.phase is not Phase.THINKING or self._half.getstate()[0]:
            return
        if self._asked or (self._limit is not None and self._spent >= self._limit):
            # Once only: what follows a forced closer is the answer, whatever the model makes of it.
            self._forced, self._closing = self._closing, ()


def closing_text(posture: Posture, message: str) -> str | None:
    """What ends a thought in this format, with the message in front; None where nothing can."""
    reasoning = posture.reasoning
    if reasoning is None or reasoning.style is ReasoningStyle.ATEM:
        return None
    if reasoning.style is ReasoningStyle.HARMONY:
        return message + HARMONY_ANSWER
    return message + reasoning.closer + (reasoning.header if reasoning.header else "")
