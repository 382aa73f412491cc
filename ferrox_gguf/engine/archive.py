"""The cache in memory beyond the slots: which evicted prompts are kept, and which go when the bytes run out.

Bookkeeping only; the bytes lie with the executor under the same keys. Kept by content and adapter set: a prompt gets
back exactly the state of its own tokens, whoever sent them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ferrox_gguf.engine.checkpoints import Checkpoint
from ferrox_gguf.engine.trie import Found, PrefixTrie
from ferrox_gguf.request import LoraScale

Lora = tuple[LoraScale, ...]


@dataclass(slots=True)
class Entry:
    """One kept sequence. size: bytes, 0 until its state has been saved.  used: tick of the last use."""

    key: int
    tokens: list[int]
    lora: Lora
    checkpoints: tuple[Checkpoint, ...]
    size: int = 0
    used: int = 0


@dataclass(frozen=True, slots=True)
class Match:
    """A kept sequence and how much of it a prompt can use. checkpoint: to be put on top, where it cannot be cut."""

    entry: Entry
    length: int
    checkpoint: Checkpoint | None = None


class Archive:
    """limit: bytes at most; -1 no limit, 0 keeps nothing.

    can_cut: may a restored state be cut anywhere?  Otherwise it serves whole, or at one of its checkpoints.
    """

    def __init__(self, limit: int, *, can_cut: bool) -> None:
        self.limit = limit
        self.bytes = 0
        self._can_cut = can_cut
        self._entries: dict[int, Entry] = {}
        self._tries: dict[Lora, PrefixTrie] = {}
        self._tick = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: int) -> bool:
        return key in self._entries

    def covers(self, tokens: list[int], lora: Lora, slack: int) -> bool:
        """Is all but `slack` of these tokens kept already?"""
        found = self._search(tokens, lora)
        return found is not None and found.length >= len(tokens) - slack

    def add(self, entry: Entry) -> list[Entry]:
        """Keep one more; those that it makes useless, which are forgotten."""
        useless = []
        trie = self._tries.setdefault(entry.lora, PrefixTrie())
        shorter = trie.whole(entry.tokens)
        if self._can_cut and shorter is not None:
            useless.append(self._forget(shorter.key))
        replaced = trie.insert(entry.tokens, entry.key)
        if replaced is not None:
            old = self._entries.pop(replaced)
            self.bytes -= old.size
            useless.append(old)
        self._entries[entry.key] = entry
        self._touch(entry)
        return useless

    def sized(self, key: int, size: int) -> list[Entry]:
        """The state is saved (size 0: it could not be); those that must go to stay within the limit."""
        entry = self._entries.get(key)
        if entry is None:
            return []
        if size == 0:
            return [self._forget(key)]
        entry.size = size
        self.bytes += size
        gone = []
        while 0 <= self.limit < self.bytes:
            oldest = min((each for each in self._entries.values() if each.size), key=lambda each: each.used)
            gone.append(self._forget(oldest.key))
        return gone

    def find(self, tokens: list[int], lora: Lora) -> Match | None:
        """What serves the longest prefix of these tokens, at most all but the last."""
        trie = self._tries.get(lora)
        if trie is None:
            return None
        usable = tokens[:-1]
        best: Match | None = None
        whole = trie.whole(usable)
        if whole is not None:
            best = Match(self._entries[whole.key], whole.length)
        longest = trie.longest(usable)
        if longest is not None and (best is None or longest.length > best.length):
            best = self._cut_match(longest) or best
        return best if best is not None and best.entry.size else None

    def use(self, match: Match) -> None:
        self._touch(match.entry)

    def discard(self, key: int) -> Entry | None:
        """Forget one whose state turned out to be useless."""
        return self._forget(key) if key in self._entries else None

    def empty(self) -> list[Entry]:
        """Forget everything; what was kept."""
        return [self._forget(key) for key in list(self._entries)]

    def _cut_match(self, found: Found) -> Match | None:
        entry = self._entries[found.key]
        if self._can_cut:
            return Match(entry, found.length)
        fitting = [each for each in entry.checkpoints if each.length <= found.length]
        return Match(entry, fitting[-1].length, fitting[-1]) if fitting else None

    def _search(self, tokens: list[int], lora: Lora) -> Found | None:
        trie = self._tries.get(lora)
        if trie is None:
            return None
        return trie.longest(tokens) if self._can_cut else trie.whole(tokens)

    def _forget(self, key: int) -> Entry:
        entry = self._entries.pop(key)
        self._tries[entry.lora].remove(entry.tokens)
        self.bytes -= entry.size
        return entry

    def _touch(self, entry: Entry) -> None:
        self._tick += 1
        entry.used = self._tick
