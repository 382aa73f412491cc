"""Closing ranks: which answer moves to another slot, so that those that run are neighbours again.

Only where slots have caches of their own: there llama.cpp computes each group of neighbours in a pass of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

Move = tuple[int, int]
"""From one slot to another, idle one."""


def closing_move(
    busy: Iterable[int], movable: Collection[int], n_slots: int, filled: Collection[int] = ()
) -> Move | None:
    """One step towards fewer groups: an outer slot of the smallest group that may move goes beside another group.

    busy: slots in use, ascending.  movable: those of them whose sequence may move.  filled: idle slots that hold
    something, to be taken only where there is no empty one.
    """
    groups: list[list[int]] = []
    for slot in busy:
        if groups and groups[-1][-1] == slot - 1:
            groups[-1].append(slot)
        else:
            groups.append([slot])
    if len(groups) < 2:
        return None
    taken = {slot for group in groups for slot in group}
    for small in sorted(groups, key=len):
        if not all(slot in movable for slot in small):
            continue
        beside = [edge for group in groups if group is not small for edge in (group[0] - 1, group[-1] + 1)]
        free = [slot for slot in beside if 0 <= slot < n_slots and slot not in taken]
        if free:
            # The end that is further away moves, or the next one would have to come after it.
            target = min(free, key=lambda slot: (slot in filled, min(abs(slot - small[0]), abs(slot - small[-1]))))
            return max(small[0], small[-1], key=lambda slot: abs(slot - target)), target
    return None
