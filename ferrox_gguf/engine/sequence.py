"""One generation on its way: where it stands and what it has cost, as the scheduler sees it.

`tokens` is the text so far as ids: prompt, then answer. What of it has been evaluated is known by its slot (`held`);
the rest is still to be read, whether it is a prompt or the one token that was just drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ferrox_gguf.engine.contract import SequenceRequest
from ferrox_gguf.events import Timings


class Phase(Enum):
    """WAITING: no slot yet. AWAITING: has one, but another sequence still reads its prefix. RUNNING: in the batches."""

    WAITING = "waiting"
    AWAITING = "awaiting"
    RUNNING = "running"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Awaited:
    """The prefix that another sequence is reading: fork `length` tokens of `slot` once `owner` has read them."""

    slot: int
    owner: int
    length: int


class Sequence:
    """Mutable state of one request.

    Times are in milliseconds of the loop's clock; 0.0 means not yet.  marks: where reading pauses for a checkpoint.
    """

    __slots__ = (
        "awaited",
        "began_ms",
        "cached",
        "first_ms",
        "generated",
        "handle",
        "last_ms",
        "marks",
        "n_prompt",
        "phase",
        "read",
        "request",
        "seed",
        "slot",
        "tokens",
        "truncated",
    )

    def __init__(self, handle: int, request: SequenceRequest, seed: int = 0) -> None:
        self.handle = handle
        self.request = request
        self.seed = seed
        self.tokens = list(request.tokens)
        self.n_prompt = len(request.tokens)
        self.phase = Phase.WAITING
        self.slot = -1
        self.awaited: Awaited | None = None
        self.marks: tuple[int, ...] = ()
        self.cached = 0
        self.read = 0
        self.generated = 0
        self.truncated = False
        self.began_ms = 0.0
        self.first_ms = 0.0
        self.last_ms = 0.0

    @property
    def decoding(self) -> bool:
        """Has its prompt been read?"""
        return self.generated > 0

    def timings(self) -> Timings:
        """What llama-server calls timings, so far."""
        first = self.first_ms
        if first:
            return Timings(self.cached, self.read, first - self.began_ms, self.generated, self.last_ms - first)
        return Timings(self.cached, self.read, max(0.0, self.last_ms - self.began_ms), self.generated, 0.0)
