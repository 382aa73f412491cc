"""One tool's parameters as alternatives of one JSON type each: what a wire form that is not JSON can be made from.

References are followed, unions taken apart, `allOf` merged where that is a matter of keywords. What is left is a
`Branch`; what cannot be taken apart is refused with its path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from ferrox_gguf.declared import Declared
from ferrox_gguf.errors import InvalidField
from ferrox_gguf.grammar.schema import prepare_schema
from ferrox_gguf.json_types import Json, JsonObject

Path = tuple[str, ...]

KINDS = ("null", "boolean", "integer", "number", "string", "array", "object")
MAX_REFERENCES = 32

_BY_KIND = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "object": (
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "minProperties",
        "maxProperties",
    ),
}
_KIND_OF = {key: kind for kind, keys in _BY_KIND.items() for key in keys}
_LEAST = frozenset({"minLength", "minItems", "minProperties", "minimum", "exclusiveMinimum"})
_MOST = frozenset({"maxLength", "maxItems", "maxProperties", "maximum", "exclusiveMaximum"})


@dataclass(frozen=True, slots=True)
class Branch:
    """kind: a JSON type, or "" where anything goes.  schema: what holds of it, with neither references nor unions
    at its top (a string's further patterns and formats are in its `allOf`)."""

    kind: str
    schema: JsonObject = field(default_factory=dict)

    @property
    def values(self) -> list[Json] | None:
        """The values that it lists, None where it does not."""
        if "const" in self.schema:
            return [self.schema["const"]]
        values = self.schema.get("enum")
        return list(values) if isinstance(values, list) else None


@dataclass(frozen=True, slots=True)
class Members:
    """What an object may hold. properties: schema by name.  rest: the schema of others, None for none."""

    properties: Mapping[str, Json]
    required: frozenset[str]
    rest: Json | None
    least: int
    most: int | None


class Schemas:
    """field: what the client calls the schema, the head of every path. Raises InvalidField for what is no schema."""

    def __init__(self, schema: JsonObject, field: str) -> None:
        self.field = field
        self.root = prepare_schema(cast(Json, dict(schema)), field=field)
        self.declared = Declared.arguments(self.root)

    def refuse(self, path: Path, reason: str) -> InvalidField:
        return InvalidField(".".join((self.field, *path)), reason)

    def branches(self, node: Json, path: Path) -> list[Branch]:
        """What `node` allows; an empty list where nothing can match."""
        return [branch for flat in self._flat(node, path, MAX_REFERENCES) for branch in _typed(flat)]

    def members(self, branch: Branch, path: Path) -> Members:
        """Of a branch that is an object. Only what is declared may be written unless the schema says otherwise."""
        schema = branch.schema
        if branch.values is not None:
            raise self.refuse(path, "a list of whole objects cannot be enforced in this model's tool-call form")
        if schema.get("patternProperties"):
            raise self.refuse(
                (*path, "patternProperties"), "names by pattern cannot be enforced in this model's tool-call form"
            )
        properties = schema.get("properties")
        rest = schema.get("additionalProperties")
        required = schema.get("required")
        least, most = schema.get("minProperties"), schema.get("maxProperties")
        members = Members(
            properties if isinstance(properties, Mapping) else {},
            frozenset(name for name in required if isinstance(name, str))
            if isinstance(required, list)
            else frozenset(),
            None if rest is False or "additionalProperties" not in schema else rest,
            least if isinstance(least, int) else 0,
            most if isinstance(most, int) else None,
        )
        for name in sorted(members.required - members.properties.keys()):
            if members.rest is None:
                raise self.refuse((*path, "required"), f"{name!r} is required and not among the properties")
        return members

    def follow(self, pointer: str) -> Json:
        node: Json = cast(Json, self.root)
        for raw in pointer[1:].split("/")[1:]:
            part = raw.replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping):
                node = node.get(part)
            elif isinstance(node, list) and part.isdigit() and int(part) < len(node):
                node = node[int(part)]
            else:
                return None
        return node

    # -- taking apart

    def _flat(self, node: Json, path: Path, budget: int) -> list[JsonObject]:
        """The alternatives of a schema, none of which has a reference, a union or an `allOf` at its top."""
        if node is False:
            return []
        if not isinstance(node, Mapping):
            return [{}]
        if budget <= 0:
            raise self.refuse(path, "refers to itself without end")
        plain = {
            key: value for key, value in node.items() if key not in ("$ref", "anyOf", "allOf", "$defs", "definitions")
        }
        out: list[JsonObject] = [plain]
        if isinstance(pointer := node.get("$ref"), str):
            out = self._both(out, self._flat(self.follow(pointer), path, budget - 1), path)
        if isinstance(parts := node.get("allOf"), list):
            for at, part in enumerate(parts):
                where = (*path, "allOf", str(at))
                out = self._both(out, self._flat(part, where, budget - 1), where)
        if isinstance(parts := node.get("anyOf"), list):
            union = [
                flat
                for at, part in enumerate(parts)
                for flat in self._flat(part, (*path, "anyOf", str(at)), budget - 1)
            ]
            out = self._both(out, union, path)
        return out

    def _both(self, left: list[JsonObject], right: list[JsonObject], path: Path) -> list[JsonObject]:
        if len(left) * len(right) > 256:
            raise self.refuse(path, "too many alternatives")
        return [both for a in left for b in right if (both := self._merged(a, b, path)) is not None]

    def _merged(self, a: JsonObject, b: JsonObject, path: Path) -> JsonObject | None:
        """A schema that holds where both hold; None where nothing can."""
        out = dict(a)
        for key, value in b.items():
            if key not in out or out[key] == value:
                out[key] = value
                continue
            if key in ("pattern", "format"):
                out["allOf"] = [*_parts(out), {key: value}]
                continue
            merged = self._merged_keyword(key, out[key], value, path)
            if key in ("type", "enum") and merged == []:
                return None
            out[key] = merged
        return out

    def _merged_keyword(self, key: str, a: Json, b: Json, path: Path) -> Json:
        if key == "type":
            return [kind for kind in KINDS if _allows(a, kind) and _allows(b, kind)]
        if key == "enum" and isinstance(a, list) and isinstance(b, list):
            return [value for value in a if value in b]
        if key == "required" and isinstance(a, list) and isinstance(b, list):
            return [*a, *(name for name in b if name not in a)]
        if key == "properties" and isinstance(a, dict) and isinstance(b, dict):
            both: dict[str, Json] = {
                name: {"allOf": [a[name], b[name]]} for name in a.keys() & b.keys() if a[name] != b[name]
            }
            return {**a, **b, **both}
        if key in _LEAST and isinstance(a, (int, float)) and isinstance(b, (int, float)):
            return max(a, b)
        if key in _MOST and isinstance(a, (int, float)) and isinstance(b, (int, float)):
            return min(a, b)
        if key == "additionalProperties" and (a is False or b is False):
            return False
        raise self.refuse((*path, key), f"two different {key!r} cannot be enforced together in this tool-call form")


def _parts(schema: JsonObject) -> list[Json]:
    parts = schema.get("allOf")
    return parts if isinstance(parts, list) else []


def _allows(types: Json, kind: str) -> bool:
    names = types if isinstance(types, list) else [types]
    return kind in names or (kind == "integer" and "number" in names)


def _typed(flat: JsonObject) -> list[Branch]:
    """One branch a type. A schema without a type whose keywords concern some types only allows the others whole."""
    values = Branch("", flat).values
    if values is not None:
        values = [
            value for value in values if "type" not in flat or any(_allows(flat["type"], k) for k in _kinds(value))
        ]
        rest = {key: value for key, value in flat.items() if key not in ("type", "enum", "const")}
        groups: dict[str, list[Json]] = {}
        for value in values:
            groups.setdefault(kind_of(value), []).append(value)
        return [Branch(kind, {**_of_kind(rest, kind), "enum": group}) for kind, group in groups.items()]
    declared = flat.get("type")
    if declared is None:
        if not flat:
            return [Branch("")]
        kinds: list[str] = [kind for kind in KINDS if kind != "integer"]
    else:
        names = declared if isinstance(declared, list) else [declared]
        kinds = [kind for kind in KINDS if kind in names and not (kind == "integer" and "number" in names)]
    return [Branch(kind, {"type": kind, **_of_kind(flat, kind)}) for kind in kinds]


def _of_kind(schema: JsonObject, kind: str) -> dict[str, Json]:
    family = "number" if kind == "integer" else kind
    own = {key: value for key, value in schema.items() if _KIND_OF.get(key) == family}
    return {**own, "allOf": _parts(schema)} if kind == "string" and _parts(schema) else own


def kind_of(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "array" if isinstance(value, list) else "object"


def _kinds(value: Json) -> tuple[str, ...]:
    kind = kind_of(value)
    if kind == "integer" or (isinstance(value, float) and value.is_integer()):
        return ("integer", "number")
    return (kind,)
