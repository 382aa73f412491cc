"""The ledger of cells against a plain model: sets of cell numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ferrox_gguf.engine.cells import UNBOUNDED, CellLedger

SLOTS = 4
steps = st.lists(
    st.tuples(
        st.sampled_from(["grow", "cut", "share", "unshare", "remove"]),
        st.integers(0, SLOTS - 1),
        st.integers(0, SLOTS - 1),
        st.integers(0, 30),
        st.integers(0, 30),
    ),
    max_size=40,
)


class Cells:
    """The same operations on explicit cells."""

    def __init__(self) -> None:
        self.slots: list[list[int]] = [[] for _ in range(SLOTS)]
        self.next = 0

    def grow(self, slot: int, count: int) -> None:
        self.slots[slot] += range(self.next, self.next + count)
        self.next += count

    def private(self, slot: int) -> int:
        others = {cell for at, cells in enumerate(self.slots) if at != slot for cell in cells}
        return len(set(self.slots[slot]) - others)

    @property
    def used(self) -> int:
        return len({cell for cells in self.slots for cell in cells})


@given(steps)
def test_the_ledger_counts_what_explicit_cells_count(steps: list[tuple[str, int, int, int, int]]) -> None:
    ledger, cells = CellLedger(10_000, SLOTS), Cells()
    for name, slot, other, number, more in steps:
        held = len(cells.slots[slot])
        if name == "grow":
            ledger.grow(slot, number)
            cells.grow(slot, number)
        elif name == "cut":
            length = min(number, held)
            ledger.cut(slot, length)
            del cells.slots[slot][length:]
        elif name == "share" and slot != other:
            length = min(number, held)
            ledger.share(slot, other, length)
            cells.slots[other] = cells.slots[slot][:length]
        elif name == "unshare":
            ledger.unshare(slot)
            cells.slots[slot] = []
            cells.grow(slot, held)
        elif name == "remove" and cells.private(slot) == held:
            start = min(number, held)
            count = min(more, held - start)
            ledger.remove(slot, start, count)
            del cells.slots[slot][start : start + count]
        assert ledger.used == cells.used
        for at in range(SLOTS):
            assert ledger.held(at) == len(cells.slots[at])
            assert ledger.private(at) == cells.private(at)
            assert ledger.is_private(at) == (cells.private(at) == len(cells.slots[at]))


def test_clearing_one_owner_of_shared_cells_frees_only_what_is_its_own() -> None:
    ledger = CellLedger(100, 2)
    ledger.grow(0, 40)
    ledger.share(0, 1, 30)
    ledger.grow(1, 5)
    assert ledger.used == 45
    ledger.cut(0, 0)
    assert ledger.used == 35


def test_memory_that_does_not_grow_with_tokens_is_never_full() -> None:
    ledger = CellLedger(0, 1)
    ledger.grow(0, 10**9)
    assert ledger.free == UNBOUNDED
