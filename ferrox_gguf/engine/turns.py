"""Whose turn it is, when not everybody can have one: prompts that share a step, adapter sets that share the engine."""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.request import LoraScale

_LORA_STEPS = 16
"""Steps in a row with one adapter set while another waits: changing it each step costs half the speed (measured)."""


def fair_shares(wanted: Sequence[int], allowance: int) -> list[int]:
    """How many of `allowance` tokens each prompt may read. wanted: what each could read now, the oldest prompt first.

    Half is the oldest prompt's, so that it arrives; the rest goes to those that it completes, the shortest first, so
    that a short prompt does not wait for a long one. What is left over goes to the oldest: one large piece costs less
    than several small ones.
    """
    shares = [0] * len(wanted)
    if not wanted:
        return shares
    shares[0] = min(wanted[0], allowance if len(wanted) == 1 else allowance // 2)
    left = allowance - shares[0]
    for at in sorted(range(1, len(wanted)), key=lambda at: wanted[at]):
        if wanted[at] <= left:
            shares[at] = wanted[at]
            left -= shares[at]
    for at, want in enumerate(wanted):
        more = min(want - shares[at], left)
        shares[at] += more
        left -= more
    return shares


class LoraTurns:
    """Which adapter set the next step is read with: never two in one batch."""

    def __init__(self) -> None:
        self._current: tuple[LoraScale, ...] = ()
        self._steps = 0

    def choose(self, wanted: Sequence[tuple[LoraScale, ...]]) -> tuple[LoraScale, ...]:
        """The last set for some steps, then that of the oldest other sequence. wanted: oldest sequence first."""
        current = self._current
        others = [lora for lora in wanted if lora != current]
        if not others:
            return current
        self._steps += 1
        if len(others) == len(wanted) or self._steps >= _LORA_STEPS:
            self._current, self._steps = others[0], 0
        return self._current
