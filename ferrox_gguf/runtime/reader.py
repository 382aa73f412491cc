"""What a choice needs of the machine that reads its tokens; `output/chain.py` is the machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ferrox_gguf.events import OutputEvent
from ferrox_gguf.output.pieces import End


class Reader(Protocol):
    """Token ids to events, for one choice.

    push: what this token makes certain.  flush: the rest, once generation has ended.
    stopped: the stop string that has appeared, and nothing after it counts; None while there is none.
    reasoning_tokens: of the tokens pushed so far, None when the model has no reasoning format.
    """

    def push(self, token: int) -> Sequence[OutputEvent]: ...
    def flush(self, end: End) -> Sequence[OutputEvent]: ...
    @property
    def stopped(self) -> str | None: ...
    @property
    def reasoning_tokens(self) -> int | None: ...
