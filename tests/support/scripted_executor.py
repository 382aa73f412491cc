"""An executor without a model: it plays token scripts, keeps account of what each slot holds, and fails on request.

The account is what makes scheduler tests honest: `execute` checks that every row continues exactly what its slot holds,
and that the cells in use never exceed the cache.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ferrox_gguf.engine.contract import Sampled, SequenceRequest
from ferrox_gguf.engine.plan import (
    BatchPlan,
    Cut,
    Drawn,
    Drop,
    Outcome,
    Restore,
    Rewind,
    Save,
    Share,
    Shift,
    Splice,
    Unshare,
    Verdict,
)

Script = Callable[[SequenceRequest, int], int]
"""The token that a request's answer has at a position (0: the first generated)."""


def counting(request: SequenceRequest, at: int) -> int:
    """An answer that depends on the whole prompt and on the position, and never ends by itself."""
    return 100 + (sum(request.tokens) + at) % 97


class ScriptedExecutor:
    """script: what each sequence says.  n_cells: cells of the cache, shared ones counted once; 0 unbounded.

    fail: handles whose rows fail.  full: how many of the next decodes find no room.  lose: so many shares fail.
    held: tokens of each slot, each with the number of the cell that it lies in.
    """

    def __init__(
        self,
        script: Script = counting,
        *,
        n_slots: int = 4,
        n_cells: int = 0,
        step_ms: float = 1.0,
        window: int = 0,
        recurrent: bool = False,
        shares_cells: bool = True,
    ) -> None:
        self.script = script
        self.window, self.recurrent = window, recurrent
        self.n_cells = n_cells
        self.shares_cells = shares_cells
        self.step_ms = step_ms
        self.fail: set[int] = set()
        self.full = 0
        self.lose = 0
        self.held: list[list[tuple[int, int]]] = [[] for _ in range(n_slots)]
        self.plans: list[BatchPlan] = []
        self.requests: dict[int, SequenceRequest] = {}
        self.kept: dict[int, list[int]] = {}
        self._said: dict[int, int] = {}
        self._next_cell = 0

    def open(self, handle: int, request: SequenceRequest) -> int:
        self.requests[handle] = request
        self._said[handle] = 0
        return 7

    def close(self, handle: int) -> None:
        self.requests.pop(handle, None)

    def finish(self) -> None:
        """There is nothing to free."""

    def first_position(self, slot: int) -> int:
        """With a window, llama.cpp has dropped everything that the window has passed (it may keep more)."""
        if not self.held[slot]:
            return -1
        return max(0, len(self.held[slot]) - self.window) if self.window else 0

    def can_cut(self, slot: int, length: int) -> bool:
        if length in (0, len(self.held[slot])):
            return True
        return not self.recurrent and (not self.window or self.first_position(slot) <= max(0, length - self.window))

    def take_state(self, slot: int) -> NDArray[np.uint8]:
        return np.asarray(self.tokens(slot), np.int32).view(np.uint8)

    def put_state(self, slot: int, state: NDArray[np.uint8], length: int) -> bool:
        self.held[slot] = [(int(token), self._cell()) for token in state.view(np.int32)]
        return True

    @property
    def belongs_to(self) -> str:
        return "scripted"

    def tokens(self, slot: int) -> list[int]:
        return [token for token, _ in self.held[slot]]

    @property
    def cells_used(self) -> int:
        return len({cell for slot in self.held for _, cell in slot})

    def execute(self, plan: BatchPlan) -> Outcome:
        self.plans.append(plan)
        lost, saved = self._operate(plan)
        if lost:
            return Outcome(Verdict.SKIPPED, lost=lost, saved=saved)
        if not plan.rows:
            return Outcome(Verdict.DONE, saved=saved)
        if self.full:
            self.full -= 1
            return Outcome(Verdict.FULL, saved=saved)
        drawn: dict[int, Drawn] = {}
        for index, row in enumerate(plan.rows):
            assert row.start == len(self.held[row.slot]), "a row must continue what its slot holds"
            if row.sequence in self.fail:
                drawn[index] = Drawn(error=RuntimeError("made to fail"))
                continue
            self.held[row.slot] += [(token, self._cell()) for token in row.tokens]
            if row.wants_logits:
                said = self._said[row.sequence]
                self._said[row.sequence] = said + 1
                drawn[index] = Drawn((Sampled(self.script(self.requests[row.sequence], said)),))
        assert not self.n_cells or self.cells_used <= self.n_cells, "the plan needs more cells than there are"
        return Outcome(Verdict.DONE, drawn, self.step_ms * plan.n_tokens, saved=saved)

    def _cell(self) -> int:
        self._next_cell += 1
        return self._next_cell

    def _operate(self, plan: BatchPlan) -> tuple[tuple[int, ...], dict[int, int]]:
        saved: dict[int, int] = {}
        lost: list[int] = []
        for operation in plan.operations:
            if isinstance(operation, Cut):
                assert operation.length <= len(self.held[operation.slot])
                assert operation.length == 0 or self.can_cut(operation.slot, operation.length)
                del self.held[operation.slot][operation.length :]
            elif isinstance(operation, Share) and operation.source in lost:
                # What an operation of this very plan lost cannot be passed on: the memory refuses.
                self.held[operation.target] = []
                lost.append(operation.target)
            elif isinstance(operation, Share):
                assert operation.length <= len(self.held[operation.source]), "only what is held can be shared"
                if operation.checkpoint >= 0:
                    assert self.kept[operation.checkpoint] == self.tokens(operation.source)[: operation.length]
                else:
                    assert self.can_cut(operation.source, operation.length), "this memory cannot be split there"
                shared = self.held[operation.source][: operation.length]
                self.held[operation.target] = (
                    shared if self.shares_cells else [(token, self._cell()) for token, _ in shared]
                )
                if self.lose:
                    self.lose -= 1
                    self.held[operation.target] = []
                    lost.append(operation.target)
            elif isinstance(operation, Shift):
                del self.held[operation.slot][operation.keep : operation.keep + operation.discard]
            elif isinstance(operation, Splice):
                before = self.held[operation.slot]
                parts = [before[chunk.old : chunk.old + chunk.length] for chunk in operation.chunks]
                self.held[operation.slot] = before[: operation.keep] + [cell for part in parts for cell in part]
            elif isinstance(operation, Unshare):
                self.held[operation.slot] = [(token, self._cell()) for token, _ in self.held[operation.slot]]
            elif isinstance(operation, Save):
                assert operation.key not in self.kept
                if operation.slot in lost:
                    saved[operation.key] = 0
                    continue
                self.kept[operation.key] = self.tokens(operation.slot)
                saved[operation.key] = 16 * len(self.held[operation.slot])
            elif isinstance(operation, Restore):
                kept = self.kept.get(operation.key)
                if kept is None:
                    self.held[operation.slot] = []
                    lost.append(operation.slot)
                    continue
                self.held[operation.slot] = [(token, self._cell()) for token in kept[: operation.length]]
            elif isinstance(operation, Rewind):
                assert self.kept[operation.key] == self.tokens(operation.slot)[: operation.length]
                del self.held[operation.slot][operation.length :]
            elif isinstance(operation, Drop):
                self.kept.pop(operation.key, None)
        for slot in lost:
            self.held[slot] = []
        return tuple(dict.fromkeys(lost)), saved
