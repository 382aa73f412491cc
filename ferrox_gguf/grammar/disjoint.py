"""Which branches of a oneOf can be proved never to match together: then it says the same as anyOf.

llguidance takes no oneOf; what is not proved here is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ferrox_gguf.json_types import Json

TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_DEPTH = 8
"""Levels of properties looked into, and references followed in a row."""


class Disjoint:
    """resolve: what a local reference points at."""

    def __init__(self, resolve: Callable[[str], Json]) -> None:
        self._resolve = resolve

    def all(self, branches: list[Json]) -> bool:
        """Is every pair provably disjoint?"""
        return all(self.pair(left, right) for i, left in enumerate(branches) for right in branches[i + 1 :])

    def pair(self, left: Json, right: Json, depth: int = 0) -> bool:
        left, right = self._follow(left), self._follow(right)
        if left is False or right is False:
            return True
        if not isinstance(left, Mapping) or not isinstance(right, Mapping) or depth > _DEPTH:
            return False
        values = _values(left), _values(right)
        if values[0] is not None and values[1] is not None:
            return not any(same(a, b) for a in values[0] for b in values[1])
        types = _types(left), _types(right)
        if not types[0] & types[1]:
            return True
        for a, b in ((values[0], types[1]), (values[1], types[0])):
            if a is not None and all(not _kinds(value) & b for value in a):
                return True
        return types[0] == types[1] == {"object"} and any(self._split(left, right, depth))

    def _split(self, left: Mapping[str, Json], right: Mapping[str, Json], depth: int) -> Iterator[bool]:
        """Objects are told apart by a key that both require and on which they cannot agree."""
        both = set(_strings(left.get("required"))) & set(_strings(right.get("required")))
        ours, theirs = left.get("properties"), right.get("properties")
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            for key in both:
                if key in ours and key in theirs:
                    yield self.pair(ours[key], theirs[key], depth + 1)
        for a, b in ((left, right), (right, left)):
            closed = a.get("additionalProperties") is False and not a.get("patternProperties")
            if closed:
                known = a.get("properties")
                names = set(known) if isinstance(known, Mapping) else set()
                yield bool(set(_strings(b.get("required"))) - names)

    def _follow(self, node: Json) -> Json:
        for _ in range(_DEPTH):
            if not (isinstance(node, Mapping) and isinstance(ref := node.get("$ref"), str)):
                break
            node = self._resolve(ref)
        return node


def _strings(value: Json) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _values(node: Mapping[str, Json]) -> list[Json] | None:
    if "const" in node:
        return [node["const"]]
    enum = node.get("enum")
    return list(enum) if isinstance(enum, list) else None


def _types(node: Mapping[str, Json]) -> set[str]:
    declared = node.get("type")
    names = [declared] if isinstance(declared, str) else _strings(declared)
    if not names and (values := _values(node)) is not None:
        return set().union(*(_kinds(value) for value in values)) if values else set()
    found = set(names or TYPES)
    if "number" in found:
        found.add("integer")
    if node.get("nullable"):
        found.add("null")
    return found


def _kinds(value: Json) -> set[str]:
    if value is None:
        return {"null"}
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return {"integer", "number"}
    if isinstance(value, float):
        return {"number"}
    if isinstance(value, str):
        return {"string"}
    return {"array"} if isinstance(value, list) else {"object"}


def same(a: Json, b: Json) -> bool:
    """JSON equality: true is not 1, and 1 is 1.0."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)
