"""Which prompts are read together in the room (`llama/room.py`): short rests behind the same long beginning."""

from __future__ import annotations

from collections.abc import Sequence as Items
from dataclasses import dataclass

from ferrox_gguf.engine.pace import EFFICIENT
from ferrox_gguf.engine.sequence import Sequence

_DEEP = 128
"""Tokens of the common beginning from which on attention in tiles saves more than the states' way costs."""
_FEW = 3
"""Prompts that make a move worth while; two hardly fill a tile."""
_AGAIN = 8
"""Tokens that one of them may read again although its slot holds them: two prompts may go on alike by chance."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A sequence that reads its prompt. held: tokens that its slot holds.  whole: it may read all that it lacks now."""

    sequence: Sequence
    held: int
    whole: bool


def gather(readers: Items[Reader], most: int, room: int) -> tuple[int, list[Reader]]:
    """Those to be read together in this step, and the length of their common beginning; the oldest is one of them.

    most: tokens that may be read together.  room: cells that the room has.
    """
    oldest = readers[0]
    if len(readers) < _FEW or oldest.held < _DEEP:
        return 0, []
    near = [each for each in readers if each.whole and abs(each.held - oldest.held) <= _AGAIN]
    length = min((each.held for each in near), default=0)
    prefix = oldest.sequence.tokens[:length]
    members = [each for each in near if each.held - length <= _AGAIN and each.sequence.tokens[:length] == prefix]
    if oldest not in members:
        return 0, []
    rests = [len(each.sequence.tokens) - length for each in members]
    fitting = _fitting(rests, min(most, room - length))
    if not fitting:
        return 0, []
    # Equal parts: a last part that is too small to be read together would cost as much as before.
    parts = -(-len(members) // fitting)
    for count in (-(-len(members) // parts), fitting):
        if count >= _FEW and sum(rests[:count]) >= EFFICIENT:
            return length, members[:count]
    return 0, []


def _fitting(rests: Items[int], most: int) -> int:
    """How many of them, in order, have no more than `most` tokens in all."""
    total = 0
    for count, rest in enumerate(rests):
        total += rest
        if total > most:
            return count
    return len(rests)
