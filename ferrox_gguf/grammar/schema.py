"""A caller's JSON Schema, checked keyword by keyword before llguidance sees it.

llguidance names an unsupported keyword, never where it stands; this walk finds the path. It also rewrites what has an
equal form that llguidance takes, and drops annotations. What cannot be enforced
is refused: never 200 and unconstrained.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.json_types import Json, JsonObject

MAX_NODES = 20_000
MAX_DEPTH = 100

ANNOTATIONS = frozenset(
    (
        "$schema $id $comment $anchor $vocabulary title description default examples example deprecated readOnly "
        "writeOnly contentMediaType contentEncoding contentSchema externalDocs xml discriminator"
    ).split()
)
ASSERTIONS = frozenset(
    (
        "type enum const properties required additionalProperties patternProperties minProperties maxProperties "
        "items prefixItems additionalItems minItems maxItems minLength maxLength pattern format minimum maximum "
        "exclusiveMinimum exclusiveMaximum multipleOf anyOf oneOf allOf $ref $defs definitions nullable"
    ).split()
)
TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
FORMATS = frozenset("date-time time date duration email hostname ipv4 ipv6 uuid uri".split())
"""Formats that are enforced. Any other is an annotation, as the standard allows (docs/structured-output.md)."""

WHITE_SPACE = r"[\x20\x0A\x0D\x09]{0,48}"
"""Between two JSON tokens. Bounded, so that a model cannot run on in line breaks until its limit."""

_Path = tuple[str, ...]


def prepare_schema(schema: Json, *, field: str) -> JsonObject:
    """The schema llguidance gets. field: what the client calls it, the head of every path in an error.

    Raises InvalidField naming field and path. Nothing of the caller's schema is changed.
    """
    if schema is True:
        return {}
    if not isinstance(schema, Mapping):
        raise InvalidField(field, "a JSON Schema must be an object")
    return _Walk(schema, field).run()


class _Walk:
    def __init__(self, root: JsonObject, field: str) -> None:
        self._root, self._field, self._nodes = root, field, 0

    def run(self) -> JsonObject:
        prepared = self._schema(cast(Json, self._root), ())
        return prepared if isinstance(prepared, dict) else {}

    def _refuse(self, path: _Path, reason: str) -> InvalidField:
        return InvalidField(".".join((self._field, *path)), reason)

    def _schema(self, node: Json, path: _Path) -> Json:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self._refuse((), f"the schema has more than {MAX_NODES} parts")
        if len(path) > MAX_DEPTH:
            raise self._refuse(path[:8], f"the schema is more than {MAX_DEPTH} levels deep")
        if isinstance(node, bool):
            return node
        if not isinstance(node, Mapping):
            raise self._refuse(path, "a schema must be an object or a boolean")
        out: dict[str, Json] = {}
        for key, value in node.items():
            if key in ANNOTATIONS or key.startswith("x-"):
                continue
            if key not in ASSERTIONS:
                raise self._refuse((*path, key), f"the keyword {key!r} cannot be enforced")
            self._keyword(out, key, value, node, (*path, key))
        return self._nullable(out)

    def _keyword(self, out: dict[str, Json], key: str, value: Json, node: Mapping[str, Json], path: _Path) -> None:
        if key in ("properties", "$defs", "definitions", "patternProperties"):
            if not isinstance(value, Mapping):
                raise self._refuse(path, "must be an object of schemas")
            out[key] = {name: self._schema(item, (*path, name)) for name, item in value.items()}
        elif key in ("anyOf", "allOf", "oneOf", "prefixItems"):
            out["anyOf" if key == "oneOf" else key] = self._branches(key, value, node, path)
        elif key == "items" and isinstance(value, list):
            # The tuple form of drafts before 2020-12.
            out["prefixItems"] = [self._schema(item, (*path, str(i))) for i, item in enumerate(value)]
            if "additionalItems" in node:
                out["items"] = self._schema(node["additionalItems"], (*path[:-1], "additionalItems"))
        elif key == "additionalItems":
            pass  # read with `items` above; without a tuple it says nothing
        elif key in ("items", "additionalProperties"):
            out[key] = self._schema(value, path)
        elif key == "$ref":
            self._reference(value, path)
            out[key] = value
        elif key == "type":
            self._type(value, path)
            out[key] = value
        elif key == "format":
            if value in FORMATS:
                out[key] = value
        elif key == "nullable":
            out[key] = bool(value)
        else:
            out[key] = value

    def _branches(self, key: str, value: Json, node: Mapping[str, Json], path: _Path) -> Json:
        if not isinstance(value, list) or not value:
            raise self._refuse(path, "must be a list of schemas, at least one")
        if key == "oneOf":
            if "anyOf" in node:
                raise self._refuse(path, "oneOf beside anyOf cannot be enforced")
            self._require_disjoint(value, path)
        return [self._schema(item, (*path, str(i))) for i, item in enumerate(value)]

    def _type(self, value: Json, path: _Path) -> None:
        names = value if isinstance(value, list) else [value]
        for name in names:
            if name not in TYPES:
                raise self._refuse(path, f"{name!r} is no JSON type")

    def _reference(self, value: Json, path: _Path) -> None:
        if not isinstance(value, str) or not value.startswith("#"):
            raise self._refuse(path, f"only references inside the schema (#/…) are followed, not {value!r}")
        if self.resolve(value) is None:
            raise self._refuse(path, f"{value!r} points at nothing")

    def resolve(self, pointer: str) -> Json:
        """What a local reference points at, None for nothing."""
        node: Json = cast(Json, self._root)
        for raw in pointer[1:].split("/")[1:]:
            part = raw.replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping) and part in node:
                node = node[part]
            elif isinstance(node, list) and part.isdigit() and int(part) < len(node):
                node = node[int(part)]
            else:
                return None
        return node

    def _nullable(self, out: dict[str, Json]) -> Json:
        """OpenAPI 3.0's `nullable` beside a type is a type list."""
        if not out.pop("nullable", False):
            return out
        return {"anyOf": [out, {"type": "null"}]}

    # -- oneOf

    def _require_disjoint(self, branches: list[Json], path: _Path) -> None:
        for i, left in enumerate(branches):
            for right in branches[i + 1 :]:
                if not self._disjoint(left, right, 0):
                    raise self._refuse(
                        path, "oneOf is enforced only where its branches cannot match together; use anyOf"
                    )

    def _disjoint(self, left: Json, right: Json, depth: int) -> bool:
        left, right = self._follow(left), self._follow(right)
        if left is False or right is False:
            return True
        if not isinstance(left, Mapping) or not isinstance(right, Mapping) or depth > 8:
            return False
        values = _values(left), _values(right)
        if values[0] is not None and values[1] is not None:
            return not any(_same(a, b) for a in values[0] for b in values[1])
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
                    yield self._disjoint(ours[key], theirs[key], depth + 1)
        for a, b in ((left, right), (right, left)):
            closed = a.get("additionalProperties") is False and not a.get("patternProperties")
            if closed:
                known = a.get("properties")
                names = set(known) if isinstance(known, Mapping) else set()
                yield bool(set(_strings(b.get("required"))) - names)

    def _follow(self, node: Json) -> Json:
        for _ in range(8):
            if not (isinstance(node, Mapping) and isinstance(ref := node.get("$ref"), str) and ref.startswith("#")):
                break
            node = self.resolve(ref)
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


def _same(a: Json, b: Json) -> bool:
    """JSON equality: true is not 1, and 1 is 1.0."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)
