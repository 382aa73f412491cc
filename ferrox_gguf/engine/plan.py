"""What one step does, decided by the scheduler and obeyed by the executor: frozen values, no decisions here.

A step is: the cell operations in their order, then one decode of all rows, then one draw for each row that wants it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, TypeAlias, Union

from ferrox_gguf.engine.contract import Sampled
from ferrox_gguf.request import LoraScale


@dataclass(frozen=True, slots=True)
class Cut:
    """Slot forgets everything from position `length` on; 0 empties it."""

    slot: int
    length: int


@dataclass(frozen=True, slots=True)
class Share:
    """Target begins with the first `length` tokens of source, in the same cells; what it held is forgotten.

    checkpoint: key of the kept state that completes it, for memory that cannot be cut there; -1 none.
    """

    source: int
    target: int
    length: int
    checkpoint: int = -1

    @property
    def fills(self) -> int:
        return self.target


@dataclass(frozen=True, slots=True)
class Shift:
    """Slot forgets `discard` tokens after the first `keep`; the later ones, up to `length`, move down."""

    slot: int
    keep: int
    discard: int
    length: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Tokens that stand at `old` in what a slot holds and at `new` (not later) in a prompt."""

    old: int
    new: int
    length: int


@dataclass(frozen=True, slots=True)
class Splice:
    """Slot keeps its first `keep` tokens, then these chunks, moved together; nothing else of it stays."""

    slot: int
    keep: int
    chunks: tuple[Chunk, ...]

    @property
    def length(self) -> int:
        """What the slot holds afterwards."""
        return self.keep + sum(chunk.length for chunk in self.chunks)


@dataclass(frozen=True, slots=True)
class Save:
    """Keep a copy of the slot's state under `key`. partial: only what cannot be cut (a checkpoint)."""

    slot: int
    key: int
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Restore:
    """Put a kept state into the slot, in cells of its own, and forget what is beyond `length` tokens."""

    slot: int
    key: int
    length: int

    @property
    def fills(self) -> int:
        return self.slot


@dataclass(frozen=True, slots=True)
class Rewind:
    """Take the slot back to `length` tokens with the checkpoint that was saved there."""

    slot: int
    key: int
    length: int

    @property
    def fills(self) -> int:
        return self.slot


@dataclass(frozen=True, slots=True)
class Drop:
    """The kept state is of no use any more."""

    key: int


@dataclass(frozen=True, slots=True)
class Unshare:
    """Give the slot cells of its own for everything that it holds."""

    slot: int


Operation: TypeAlias = Union[Cut, Share, Shift, Splice, Save, Restore, Rewind, Drop, Unshare]


class PlanRow(NamedTuple):
    """One sequence's share of the next llama_decode. A named tuple: one is made for every token.

    sequence: its handle.  slot: KV lane (llama.cpp seq_id).  tokens: ids to evaluate, at least one.
    start: KV position of tokens[0].  wants_logits: a token is drawn after the last one.
    """

    sequence: int
    slot: int
    tokens: tuple[int, ...]
    start: int
    wants_logits: bool


@dataclass(frozen=True, slots=True)
class Gathered:
    """Rows that are read together in the room: all begin behind the same prefix.  sequences: their handles."""

    prefix: tuple[int, ...]
    sequences: frozenset[int]


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """One step. lora: the adapter set that every row is read with.  decoding: rows that continue an answer.

    gathered: those of the rows that are not decoded with the others, if any.
    """

    operations: tuple[Operation, ...] = ()
    rows: tuple[PlanRow, ...] = ()
    lora: tuple[LoraScale, ...] = ()
    decoding: int = 0
    gathered: Gathered | None = None

    @property
    def n_tokens(self) -> int:
        return sum(len(row.tokens) for row in self.rows)


class Drawn(NamedTuple):
    """What came of a row that wanted logits, or of one that failed. A named tuple: one is made for every token.

    sampled: one token, or several when a guide forced them.  finished: the guide wants no more.
    line_break: the last token's bytes contain one (only looked at for sequences with a time limit).
    error: this sequence cannot go on; nothing else in the outcome counts for it.
    """

    sampled: tuple[Sampled, ...] = ()
    finished: bool = False
    line_break: bool = False
    error: Exception | None = None


class Verdict(Enum):
    """How the decode went. FULL: nothing was evaluated, for want of cells. SKIPPED: an operation failed before it."""

    DONE = "done"
    FULL = "full"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the executor made of a plan. drawn: by row index.  decode_ms: time inside llama_decode.

    lost: slots that an operation left empty against the plan (no room for a copy, damaged state).
    saved: bytes kept for each Save, by key (0: could not be kept).  save_ms: what that took in all.
    """

    verdict: Verdict
    drawn: dict[int, Drawn] = field(default_factory=dict)
    decode_ms: float = 0.0
    lost: tuple[int, ...] = ()
    saved: dict[int, int] = field(default_factory=dict)
    save_ms: float = 0.0
