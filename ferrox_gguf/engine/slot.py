"""One KV lane: the tokens whose cells it holds, and the sequence that borrows it."""

from __future__ import annotations

from ferrox_gguf.engine.checkpoints import Checkpoint
from ferrox_gguf.engine.sequence import Sequence
from ferrox_gguf.request import LoraScale


class Slot:
    """Lane `index`. While a sequence borrows it, `tokens` is that sequence's own list and grows with it.

    held: how many of `tokens` have their cells.  lora: the adapter set those were read with.
    previous: the sequence that left it last, for `/slots`.
    checkpoints: where memory that cannot be cut can be taken back to, shortest first.
    last_used: the scheduler's tick when it was released, for least-recently-used eviction.
    """

    __slots__ = ("checkpoints", "held", "index", "last_used", "lora", "previous", "sequence", "tokens")

    def __init__(self, index: int) -> None:
        self.index = index
        self.tokens: list[int] = []
        self.held = 0
        self.lora: tuple[LoraScale, ...] = ()
        self.last_used = 0
        self.checkpoints: list[Checkpoint] = []
        self.sequence: Sequence | None = None
        self.previous: Sequence | None = None

    @property
    def idle(self) -> bool:
        return self.sequence is None

    def lend(self, sequence: Sequence, held: int) -> None:
        """The sequence begins (or goes on) here, with `held` of its tokens already evaluated."""
        self.sequence = sequence
        self.tokens = sequence.tokens
        self.held = held
        self.lora = sequence.request.lora
        sequence.slot = self.index

    def release(self, tick: int) -> None:
        """The sequence has left; what was evaluated stays."""
        self.previous, self.sequence = self.sequence, None
        self.tokens = self.tokens[: self.held]
        self.last_used = tick
