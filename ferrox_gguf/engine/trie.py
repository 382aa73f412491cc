"""Token sequences by their beginnings: which kept sequence shares the longest prefix with a prompt?

A radix trie: an edge is a run of tokens, compared in blocks, so that a search costs the prompt's length once, however
many sequences are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ferrox_gguf.engine.prefix import common_prefix


@dataclass(slots=True)
class _Node:
    """edge: tokens on the way here from the parent.  key: the sequence that ends here, or None."""

    edge: list[int]
    key: int | None = None
    children: dict[int, _Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """length: tokens shared.  key: a sequence that shares them (one of several, perhaps)."""

    length: int
    key: int


class PrefixTrie:
    """Maps token sequences to keys."""

    def __init__(self) -> None:
        self._root = _Node([])

    def insert(self, tokens: list[int], key: int) -> int | None:
        """Add a sequence; the key that was there for the very same tokens, if any."""
        node, at = self._root, 0
        while at < len(tokens):
            child = node.children.get(tokens[at])
            if child is None:
                node.children[tokens[at]] = _Node(tokens[at:], key)
                return None
            shared = common_prefix(child.edge, tokens[at:])
            if shared < len(child.edge):
                middle = _Node(child.edge[:shared], None, {child.edge[shared]: child})
                child.edge = child.edge[shared:]
                node.children[tokens[at]] = middle
                child = middle
            node, at = child, at + shared
        before, node.key = node.key, key
        return before

    def remove(self, tokens: list[int]) -> int | None:
        """Forget a sequence; its key, or None when it was not there."""
        path: list[_Node] = [self._root]
        at = 0
        while at < len(tokens):
            child = path[-1].children.get(tokens[at])
            if child is None or tokens[at : at + len(child.edge)] != child.edge:
                return None
            path.append(child)
            at += len(child.edge)
        key, path[-1].key = path[-1].key, None
        for parent, node in zip(path[-2::-1], path[:0:-1], strict=True):
            if node.key is not None:
                break
            if not node.children:
                del parent.children[node.edge[0]]
            elif len(node.children) == 1:
                (only,) = node.children.values()
                only.edge = node.edge + only.edge
                parent.children[only.edge[0]] = only
        return key

    def longest(self, tokens: list[int]) -> Found | None:
        """The longest prefix of `tokens` that any kept sequence has."""
        node, at = self._root, 0
        while at < len(tokens):
            child = node.children.get(tokens[at])
            if child is None:
                break
            shared = common_prefix(child.edge, tokens[at:])
            node, at = child, at + shared
            if shared < len(child.edge):
                break
        if at == 0:
            return None
        while node.key is None:
            node = next(iter(node.children.values()))
        return Found(at, node.key)

    def whole(self, tokens: list[int]) -> Found | None:
        """The longest kept sequence that is, in whole, a prefix of `tokens`."""
        node, at, best = self._root, 0, None
        while at < len(tokens):
            child = node.children.get(tokens[at])
            if child is None or tokens[at : at + len(child.edge)] != child.edge:
                break
            node, at = child, at + len(child.edge)
            if node.key is not None:
                best = Found(at, node.key)
        return best
