"""What a tool's JSON Schema declares a value to be, at any depth.

Local `$ref`, `allOf` of one, `const` and `enum` are resolved; anything else that names no type declares nothing.
`output/tool_calls/` reads a value's text in the light of it, and `grammar/tools/` lets only such text be written as
will be read as meant: the two must agree, so they share this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from ferrox_gguf.json_types import Json, JsonObject

MAX_REFERENCES = 64
"""References followed in one look-up; a schema that needs more refers to itself."""

_NAMES = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})


@dataclass(frozen=True, slots=True)
class Declared:
    """The types a value may have (JSON Schema's names); none: undeclared, the text is guessed at.

    Several alternatives (`anyOf`, `oneOf`) are one value of several types; members and items are looked up in all.
    """

    types: frozenset[str] = frozenset()
    _alternatives: tuple[JsonObject, ...] = ()
    _root: JsonObject = field(default_factory=dict)

    @classmethod
    def by(cls, schema: Json | JsonObject, root: JsonObject) -> Declared:
        """What `schema`, a part of `root`, declares."""
        alternatives = tuple(_alternatives(schema, root, MAX_REFERENCES))
        kinds = [_types(alternative) for alternative in alternatives]
        types = frozenset().union(*kinds) if all(kinds) else frozenset()
        return cls(types, alternatives, root)

    @classmethod
    def arguments(cls, parameters: JsonObject) -> Declared:
        """A tool's arguments as a whole."""
        return cls.by(dict(parameters), parameters)

    def member(self, key: str) -> Declared:
        return self._any_of([part for schema in self._alternatives if (part := _member(schema, key)) is not None])

    def item(self) -> Declared:
        parts = [schema["items"] for schema in self._alternatives if isinstance(schema.get("items"), dict)]
        return self._any_of(parts)

    def _any_of(self, parts: list[Json]) -> Declared:
        if not parts:
            return UNDECLARED
        return Declared.by(parts[0] if len(parts) == 1 else {"anyOf": parts}, self._root)


UNDECLARED = Declared()
STRING = Declared(frozenset({"string"}))
JSON_TEXT = Declared(frozenset({"object", "array"}))
"""Whatever JSON the text is (DSML's string="false")."""


def _alternatives(schema: Json | JsonObject, root: JsonObject, budget: int) -> Iterator[JsonObject]:
    """The schemas that `schema` stands for, references followed. One that cannot be followed declares nothing: {}."""
    if not isinstance(schema, dict) or budget <= 0:
        yield {}
    elif isinstance(reference := schema.get("$ref"), str):
        yield from _alternatives(_follow(reference, root), root, budget - 1)
    elif "type" in schema:
        yield schema
    elif isinstance(parts := schema.get("allOf"), list) and len(parts) == 1:
        yield from _alternatives(parts[0], root, budget - 1)
    elif isinstance(parts := schema.get("anyOf") or schema.get("oneOf"), list):
        # Shared out, so that alternatives of alternatives cannot multiply.
        for part in parts[:budget]:
            yield from _alternatives(part, root, budget // len(parts[:budget]))
    else:
        yield schema


def _follow(reference: str, root: JsonObject) -> Json:
    """The part of `root` that a JSON pointer in a fragment names; None when there is none."""
    if not reference.startswith("#"):
        return None
    part: Json = dict(root)
    for step in unquote(reference[1:]).split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(part, dict):
            part = part.get(step)
        elif isinstance(part, list) and step.isascii() and step.isdigit() and len(step) < 6 and int(step) < len(part):
            part = part[int(step)]
        else:
            return None
    return part


def _types(schema: JsonObject) -> frozenset[str]:
    declared = schema.get("type")
    nullable = frozenset({"null"} if schema.get("nullable") is True else ())
    if isinstance(declared, str):
        return _NAMES & {declared} | nullable
    if isinstance(declared, list):
        return _NAMES & {name for name in declared if isinstance(name, str)} | nullable
    if "const" in schema:
        return frozenset({_type_of(schema["const"])})
    if isinstance(values := schema.get("enum"), list):
        return frozenset(_type_of(value) for value in values)
    if isinstance(schema.get("properties"), dict):
        return frozenset({"object"})
    if isinstance(schema.get("items"), dict):
        return frozenset({"array"})
    return frozenset()


def _type_of(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _member(schema: JsonObject, key: str) -> Json:
    if isinstance(properties := schema.get("properties"), dict) and key in properties:
        return properties[key]
    rest = schema.get("additionalProperties")
    return rest if isinstance(rest, dict) else None
