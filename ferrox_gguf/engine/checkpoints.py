"""Where a model whose memory cannot be cut can be taken back to: when to save its state, and which saved state to use.

Sliding windows drop old cells and recurrent models have one state for everything, so a prompt that shares half of what
a slot holds cannot simply be cut there. A checkpoint is that part of the state at one length; the cells that can be cut
(full attention layers) stay in the cache and are not in it.
"""

from __future__ import annotations

from dataclasses import dataclass

_BEFORE_END = 4
"""A prompt's last tokens open the model's turn; the next turn may write them differently (llama-server: 4 too)."""
LEAST = 32
"""Tokens worth a checkpoint."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state after `length` tokens, kept under `key`."""

    length: int
    key: int


def marks(n_prompt: int, step: int, shared: int) -> tuple[int, ...]:
    """Lengths at which reading a prompt pauses to save a checkpoint.

    step: regular distance, 0 none.  shared: a prefix that another prompt also had and that could not be used for want
    of a checkpoint; next time there will be one.
    """
    wanted = {n_prompt - _BEFORE_END, shared}
    if step > 0:
        wanted |= set(range(step, n_prompt, step))
    return tuple(sorted(length for length in wanted if LEAST <= length < n_prompt))


def usable(checkpoints: list[Checkpoint], length: int) -> Checkpoint | None:
    """The latest one that is not past `length`."""
    return next((each for each in reversed(checkpoints) if each.length <= length), None)


def surplus(checkpoints: list[Checkpoint], limit: int) -> Checkpoint | None:
    """The one to give up when there are too many: whose neighbours are nearest. First and last stay."""
    if len(checkpoints) <= limit:
        return None
    if len(checkpoints) < 3:
        return checkpoints[0]
    inner = range(1, len(checkpoints) - 1)
    return checkpoints[min(inner, key=lambda at: checkpoints[at + 1].length - checkpoints[at - 1].length)]
