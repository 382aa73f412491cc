"""How many cells of the one shared cache are in use, and by whom: bookkeeping, no llama.cpp.

llama.cpp does not tell how many cells are free, and a prefix that several slots share is stored once, so clearing one
of its owners frees nothing. Each slot is a list of runs; sharing a prefix puts the same runs into two lists.
"""

from __future__ import annotations

UNBOUNDED = 2**62
"""Free cells of a model whose memory does not grow with tokens."""


class _Run:
    """Consecutive cells with the same owners."""

    __slots__ = ("length", "owners")

    def __init__(self, length: int, owners: int = 1) -> None:
        self.length, self.owners = length, owners


class CellLedger:
    """Counts for `n_slots` slots over `n_cells` cells (0: not bounded)."""

    def __init__(self, n_cells: int, n_slots: int) -> None:
        self.n_cells = n_cells
        self.used = 0
        self._runs: list[list[_Run]] = [[] for _ in range(n_slots)]

    @property
    def free(self) -> int:
        return self.n_cells - self.used if self.n_cells else UNBOUNDED

    def held(self, slot: int) -> int:
        """Tokens of a slot."""
        return sum(run.length for run in self._runs[slot])

    def private(self, slot: int) -> int:
        """Cells that clearing this slot would free."""
        return sum(run.length for run in self._runs[slot] if run.owners == 1)

    def is_private(self, slot: int, start: int = 0) -> bool:
        """Does no other slot share a cell from position `start` on?"""
        position = 0
        for run in self._runs[slot]:
            position += run.length
            if position > start and run.owners > 1:
                return False
        return True

    def grow(self, slot: int, tokens: int) -> None:
        """The slot evaluated that many more tokens, in cells of its own."""
        runs = self._runs[slot]
        if runs and runs[-1].owners == 1:
            runs[-1].length += tokens
        elif tokens:
            runs.append(_Run(tokens))
        self.used += tokens

    def cut(self, slot: int, length: int) -> None:
        """The slot keeps its first `length` tokens."""
        keep = self._split(slot, length)
        runs = self._runs[slot]
        for run in runs[keep:]:
            run.owners -= 1
            if run.owners == 0:
                self.used -= run.length
        del runs[keep:]

    def share(self, source: int, target: int, length: int) -> None:
        """Target drops what it has and begins with the first `length` cells of source."""
        self.cut(target, 0)
        keep = self._split(source, length)
        shared = self._runs[source][:keep]
        for run in shared:
            run.owners += 1
        self._runs[target] = shared

    def unshare(self, slot: int) -> None:
        """The slot gets cells of its own for everything it holds."""
        held = self.held(slot)
        self.cut(slot, 0)
        self.grow(slot, held)

    def remove(self, slot: int, start: int, count: int) -> None:
        """A hole was cut and closed: `count` tokens from `start` on are gone. The cells must be private."""
        after = self.held(slot) - start - count
        self.cut(slot, start)
        self.grow(slot, after)

    def _split(self, slot: int, length: int) -> int:
        """Make `length` a border between runs, for every owner; the number of runs before it."""
        position = 0
        for index, run in enumerate(self._runs[slot]):
            if position + run.length <= length:
                position += run.length
                continue
            if position == length:
                return index
            left = _Run(length - position, run.owners)
            right = _Run(run.length - left.length, run.owners)
            for runs in self._runs:
                for at, candidate in enumerate(runs):
                    if candidate is run:
                        runs[at : at + 1] = [left, right]
                        break
            return index + 1
        return len(self._runs[slot])
