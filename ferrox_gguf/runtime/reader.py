"""Reads one sequence's tokens: the detokenizer and the output chain as one machine."""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.events import OutputEvent
from ferrox_gguf.output.chain import OutputChain
from ferrox_gguf.output.detokenizer import Detokenizer, PieceTable
from ferrox_gguf.output.pieces import End


class Reader:
    """Token ids to events, for one choice.

    table: the pieces of this model, for this thread only.  chain: says whether a string ended the output, and counts.
    """

    def __init__(self, table: PieceTable, chain: OutputChain) -> None:
        self._detokenizer, self.chain = Detokenizer(table), chain

    def push(self, token: int) -> Sequence[OutputEvent]:
        """What this token makes certain."""
        return self.chain.push(self._detokenizer.push((token,)))

    def flush(self, end: End) -> Sequence[OutputEvent]:
        """The rest. A character that a limit cut in half is never shown; one that the model left so is U+FFFD."""
        if end is End.CUT:
            return self.chain.flush(end)
        return [*self.chain.push(self._detokenizer.flush()), *self.chain.flush(end)]
