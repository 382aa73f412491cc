"""Reads one sequence's tokens: the detokenizer and the output chain as one machine."""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.events import OutputEvent
from ferrox_gguf.output.chain import OutputChain, Stop
from ferrox_gguf.output.detokenizer import Detokenizer, PieceTable
from ferrox_gguf.output.pieces import End


class Reader:
    """Token ids to events, for one choice. table: the pieces of this model, for this thread only."""

    def __init__(self, table: PieceTable, chain: OutputChain) -> None:
        self._detokenizer, self._chain = Detokenizer(table), chain

    @property
    def stop(self) -> Stop | None:
        """The string that ended the output, once there is one: nothing after it counts."""
        return self._chain.stop

    @property
    def reasoning_tokens(self) -> int | None:
        return self._chain.reasoning_tokens

    def push(self, token: int) -> Sequence[OutputEvent]:
        """What this token makes certain."""
        return self._chain.push(self._detokenizer.push((token,)))

    def flush(self, end: End) -> Sequence[OutputEvent]:
        """The rest. A character that a limit cut in half is never shown; one that the model left so is U+FFFD."""
        if end is End.CUT:
            return self._chain.flush(end)
        return [*self._chain.push(self._detokenizer.flush()), *self._chain.flush(end)]
