"""Which states are saved outside the cells, who still needs them, and when they may be dropped.

Two kinds: whole states of evicted prompts (the archive) and checkpoints of slots whose memory cannot be cut. A key may
be needed by several slots and entries, since a fork inherits checkpoints; it is dropped with the last of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ferrox_gguf.engine.archive import Archive, Entry, Match
from ferrox_gguf.engine.checkpoints import LEAST, Checkpoint, surplus
from ferrox_gguf.engine.layout import Layout
from ferrox_gguf.engine.plan import Drop, Operation, Outcome, Save
from ferrox_gguf.engine.prefix import common_prefix
from ferrox_gguf.engine.slot import Slot

_SLACK = 16
"""A prompt is not saved again when all but so many of its tokens are kept already."""
_WEIGHT = 0.3
NO_LIMIT_MS = float("inf")


class Keeper:
    """operations: the shared list to which saving and dropping are appended.

    budget_ms: what saving may take before the next decode; the scheduler sets it for each plan.
    """

    def __init__(self, layout: Layout, slots: Sequence[Slot], operations: list[Operation]) -> None:
        self.archive = Archive(layout.cache_bytes, can_cut=layout.can_cut)
        self.budget_ms = NO_LIMIT_MS
        self._layout = layout
        self._slots = slots
        self._operations = operations
        self._owners: dict[int, int] = {}
        self._next_key = 0
        self._token_ms = 0.0
        self._saving: dict[int, int] = {}

    def keep(self, slot: Slot) -> bool:
        """Save what the slot holds, if it is worth it and not kept elsewhere; call before its cells go.

        False when it would be lost, although it is worth something.
        """
        if slot.held < LEAST:
            return True
        if self.archive.limit == 0 or slot.held * self._token_ms > self.budget_ms:
            return False
        tokens = slot.tokens[: slot.held]
        if self.archive.covers(tokens, slot.lora, _SLACK) or self._lives_on(slot, tokens):
            return True
        self.budget_ms -= slot.held * self._token_ms
        key = self._new_key()
        self._operations.append(Save(slot.index, key))
        self._saving[key] = len(tokens)
        self._own(each.key for each in slot.checkpoints)
        for useless in self.archive.add(Entry(key, tokens, slot.lora, tuple(slot.checkpoints))):
            self._release_entry(useless)
        return True

    def checkpoint(self, slot: Slot) -> None:
        """Save what a later cut to the present length would need."""
        if not self._layout.checkpoints or any(each.length == slot.held for each in slot.checkpoints):
            return
        key = self._new_key()
        self._operations.append(Save(slot.index, key, partial=True))
        slot.checkpoints.append(Checkpoint(slot.held, key))
        extra = surplus(slot.checkpoints, self._layout.checkpoints)
        if extra is not None:
            slot.checkpoints.remove(extra)
            self._release(extra.key)

    def inherit(self, checkpoints: Iterable[Checkpoint], target: Slot, length: int) -> None:
        """A slot that begins with another's tokens can be taken back to the same places."""
        target.checkpoints = [each for each in checkpoints if each.length <= length]
        self._own(each.key for each in target.checkpoints)

    def thin(self, slot: Slot, length: int) -> None:
        """The slot was cut: checkpoints beyond that are of no use to it."""
        for each in slot.checkpoints:
            if each.length > length:
                self._release(each.key)
        slot.checkpoints = [each for each in slot.checkpoints if each.length <= length]

    def commit(self, outcome: Outcome) -> None:
        """States were saved: learn what that costs, and stay within the bytes allowed."""
        tokens = sum(self._saving.pop(key, 0) for key in outcome.saved)
        if tokens:
            each = outcome.save_ms / tokens
            self._token_ms = each if not self._token_ms else self._token_ms + _WEIGHT * (each - self._token_ms)
        for key, size in outcome.saved.items():
            for gone in self.archive.sized(key, size):
                self._release_entry(gone)
            if size == 0:
                self._unlist(key)

    def discard(self, key: int) -> None:
        """A kept state could not be used: nobody shall try again."""
        entry = self.archive.discard(key)
        if entry is not None:
            self._release_entry(entry)
        else:
            self._unlist(key)

    def forget_all(self) -> None:
        """Drop every kept prompt."""
        for entry in self.archive.empty():
            self._release_entry(entry)

    def hold(self, match: Match) -> None:
        """Nothing of this match may be dropped until release(): its slot is being made."""
        self._own([match.entry.key, *(each.key for each in match.entry.checkpoints)])

    def release(self, match: Match) -> None:
        self._release_entry(match.entry)

    def _lives_on(self, slot: Slot, tokens: list[int]) -> bool:
        """Does another slot hold these tokens (and stay as it is)?"""
        wanted = len(tokens) - _SLACK
        return any(
            other is not slot
            and other.lora == slot.lora
            and other.held >= wanted
            and common_prefix(other.tokens, tokens) >= wanted
            for other in self._slots
        )

    def _unlist(self, key: int) -> None:
        """A checkpoint that is none."""
        for slot in self._slots:
            for each in [each for each in slot.checkpoints if each.key == key]:
                slot.checkpoints.remove(each)
                self._release(key)

    def _release_entry(self, entry: Entry) -> None:
        self._release(entry.key)
        for each in entry.checkpoints:
            self._release(each.key)

    def _new_key(self) -> int:
        self._next_key += 1
        self._owners[self._next_key] = 1
        return self._next_key

    def _own(self, keys: Iterable[int]) -> None:
        for key in keys:
            self._owners[key] += 1

    def _release(self, key: int) -> None:
        owners = self._owners.get(key, 0) - 1
        if owners > 0:
            self._owners[key] = owners
        elif owners == 0:
            del self._owners[key]
            self._operations.append(Drop(key))
