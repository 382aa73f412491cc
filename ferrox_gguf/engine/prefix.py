"""Where a new prompt begins: the slot it takes, and the prefix that some slot already holds or is about to hold.

Pure decisions over slots; the scheduler turns the answer into cell operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ferrox_gguf.engine.checkpoints import Checkpoint
from ferrox_gguf.engine.plan import Chunk
from ferrox_gguf.engine.slot import Slot
from ferrox_gguf.request import LoraScale

_BLOCK = 512
_WORTH_AWAITING = 32
"""Tokens below which reading a prefix again beats waiting for another sequence's next step."""
_COPIED_FOR_ONE_READ = 8
"""Tokens whose state is copied in the time in which one is read, at least (SmolLM2 on two cores: 150)."""
MOVABLE = 4096
"""Tokens of a conversation that are copied to a better slot: in the time of a few passes over the weights."""
LOSABLE = 0.25
"""A slot is taken over, not forked, when at most this share of what it holds is lost: a conversation that goes on."""


@dataclass(frozen=True, slots=True)
class Placement:
    """target: the slot to take.  source: the slot whose first `length` tokens are used (target itself, another, or -1).

    await_source: the prefix is still being read there.  checkpoint: what completes a prefix that cannot be cut out.
    """

    target: int
    source: int = -1
    length: int = 0
    await_source: bool = False
    checkpoint: Checkpoint | None = None


@dataclass(frozen=True, slots=True)
class Reuse:
    """What one slot offers to a prompt. length: usable tokens; pending: they are still being read."""

    slot: Slot
    length: int
    pending: bool = False
    checkpoint: Checkpoint | None = None


def common_prefix(left: list[int], right: list[int]) -> int:
    """How many leading tokens are equal. Compares whole blocks at the speed of memcmp-like list equality."""
    limit = min(len(left), len(right))
    at = 0
    while at < limit and left[at : at + _BLOCK] == right[at : at + _BLOCK]:
        at += _BLOCK
    if at >= limit:
        return limit
    while at < limit and left[at] == right[at]:
        at += 1
    return at


def common_chunks(held: list[int], tokens: list[int], start: int, least: int) -> tuple[Chunk, ...]:
    """Runs of at least `least` tokens that follow a common prefix of `start` tokens in both, in the same order.

    As llama-server's `--cache-reuse` finds them: what the prompt left out is skipped, what it put in ends the search.
    """
    chunks: list[Chunk] = []
    old, new, end = start, start, len(tokens) - 1
    while old < len(held) and new < end:
        length = common_prefix(held[old:], tokens[new:end]) if held[old] == tokens[new] else 0
        if length >= least:
            chunks.append(Chunk(old, new, length))
            old, new = old + length, new + length
        else:
            old += 1
    return tuple(chunks)


def place(
    tokens: list[int],
    lora: tuple[LoraScale, ...],
    slots: Sequence[Slot],
    *,
    wanted: int,
    reuse: bool,
    similarity: float = 0.0,
    chunks: bool = False,
    copies: bool = False,
    kept: bool = True,
    usable: Callable[[Slot, int], Reuse],
) -> Placement | None:
    """Choose a slot for a prompt; None when there is none free.

    wanted: the slot that the client named (then only what that one holds is reused), -1 any.
    similarity: share of the prompt that a slot must hold to be taken over for it.
    chunks: later parts of an idle slot will be moved into place, so the slot is taken over whatever it loses.
    copies: slots have caches of their own. A prefix that is taken over from another slot is copied, with all that this
        one holds; and llama.cpp computes only neighbours together, each other group of slots in a pass of its own.
    kept: what a taken slot holds goes to memory; otherwise it is lost, and an empty slot comes first wherever it is.
    usable: how much of a common prefix of that length the slot can give (models that cannot be cut give less).
    """
    if wanted >= 0:
        slot = slots[wanted]
        if not slot.idle:
            return None
        found = _best([slot], {}, tokens, lora, usable) if reuse else None
        return _at(wanted, found)
    free = [slot for slot in slots if slot.idle]
    if not free:
        return None
    groups = {slot.index: _groups(slots, slot.index) if copies else 0 for slot in free}
    found = _best(slots, groups, tokens, lora, usable) if reuse else None

    def order(slot: Slot) -> tuple[bool, int, bool, int, int]:
        """Few passes, then an empty slot before any other, then the one unused for longest."""
        return slot.held > 0 and not kept, groups[slot.index], slot.held > 0, slot.last_used, slot.index

    if found is None:
        return _at(min(free, key=order).index, None)
    source = found.slot
    others = [slot for slot in free if slot is not source]
    other = min(others, key=order, default=source)
    if source.idle:
        goes_on = source.held - found.length <= LOSABLE * source.held and found.length >= similarity * len(tokens)
        better = groups[other.index] - groups[source.index]
        loses = other.held > 0 and not kept
        if (
            chunks
            or not others
            or better > 0
            or (goes_on and loses)
            or (goes_on and (better == 0 or source.held > MOVABLE))
        ):
            return _at(source.index, found)
    if copies and not found.pending and found.length * _COPIED_FOR_ONE_READ < source.held:
        found = None
    return _at(other.index, found)


def _at(target: int, found: Reuse | None) -> Placement:
    if found is None:
        return Placement(target)
    return Placement(target, found.slot.index, found.length, found.pending, found.checkpoint)


def _best(
    slots: Iterable[Slot],
    groups: dict[int, int],
    tokens: list[int],
    lora: tuple[LoraScale, ...],
    usable: Callable[[Slot, int], Reuse],
) -> Reuse | None:
    """The longest prefix on offer: a ready one before one that is still being read, then an idle slot's, the one beside
    busy ones (groups: how many more there would be)."""
    best: Reuse | None = None
    best_rank: tuple[int, bool, bool, int] = (0, False, False, 0)
    for slot in slots:
        if slot.lora != lora:
            continue
        # The last token is always evaluated, since its logits are wanted.
        length = min(common_prefix(slot.tokens, tokens), len(tokens) - 1)
        if length <= 0:
            continue
        offer = usable(slot, length)
        if offer.pending and offer.length < _WORTH_AWAITING:
            continue
        rank = (offer.length, not offer.pending, slot.idle, -groups.get(slot.index, 0))
        if offer.length > 0 and (best is None or rank > best_rank):
            best, best_rank = offer, rank
    return best


def _groups(slots: Sequence[Slot], index: int) -> int:
    """How many more groups of busy neighbours there are with that idle slot busy: -1, 0 or 1."""
    return 1 - sum(0 <= at < len(slots) and not slots[at].idle for at in (index - 1, index + 1))
