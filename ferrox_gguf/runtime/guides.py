"""What steers one sequence between two tokens: its constraint, its thought's budget, or both at once."""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.engine.contract import Guide


class BothGuides:
    """The budget may force, the constraint may refuse; each sees every token, so that each stays in step."""

    def __init__(self, budget: Guide, constraint: Guide) -> None:
        self._budget, self._constraint = budget, constraint

    @property
    def finished(self) -> bool:
        return self._constraint.finished

    def forced(self) -> Sequence[int]:
        return self._budget.forced() or self._constraint.forced()

    def allows(self, token: int) -> bool:
        return self._constraint.allows(token)

    def mask(self) -> bytes | None:
        return self._constraint.mask()

    def accept(self, token: int) -> None:
        self._budget.accept(token)
        self._constraint.accept(token)


def combined(budget: Guide | None, constraint: Guide | None) -> Guide | None:
    if budget and constraint:
        return BothGuides(budget, constraint)
    return budget or constraint
