"""A caller's JSON Schema, checked keyword by keyword before llguidance sees it.

llguidance names an unsupported keyword, never where it stands; this walk finds the path. It also rewrites what has an
equal form that llguidance takes, and drops annotations. What cannot be enforced is refused: never 200 and
unconstrained. docs/structured-output.md has the table of what is what, made by running the official test suite.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import cast
from urllib.parse import unquote

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.grammar.disjoint import TYPES, Disjoint
from ferrox_gguf.grammar.formats import FORMATS, PATTERNS
from ferrox_gguf.json_types import Json, JsonObject

MAX_NODES = 20_000
MAX_DEPTH = 100

ANNOTATIONS = frozenset(
    (
        "$schema $id $comment $anchor title description default examples example deprecated readOnly "
        "writeOnly contentMediaType contentEncoding contentSchema externalDocs xml discriminator"
    ).split()
)
SCHEMAS_BY_NAME = frozenset({"properties", "$defs", "definitions", "patternProperties"})
BRANCHES = frozenset({"anyOf", "allOf", "oneOf", "prefixItems"})
COUNTS = frozenset("minLength maxLength minItems maxItems minProperties maxProperties".split())
PASSED = frozenset("enum const required pattern minimum maximum multipleOf".split())
IN_PLACE = frozenset("anyOf oneOf allOf $ref if dependentSchemas".split())
"""Keywords whose own schemas evaluate properties and items for an `unevaluated…` beside them."""

WHITE_SPACE = r"[\x20\x0A\x0D\x09]{0,48}"
"""Between two JSON tokens. Bounded, so that a model cannot run on in line breaks until its limit."""

_PLAIN = re.compile(r"[\w.-]+", re.ASCII)
_Path = tuple[str, ...]
_Node = Mapping[str, Json]


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
    """One pass over a schema. Every keyword's method puts what replaces it into `out`."""

    def __init__(self, root: JsonObject, field: str) -> None:
        self._root, self._field, self._nodes, self._embedded = root, field, 0, 0
        self._targets: dict[str, str] = {}
        self._disjoint = Disjoint(self._resolve)
        self._keywords: dict[str, Callable[[dict[str, Json], str, Json, _Node, _Path], None]] = {
            **dict.fromkeys(SCHEMAS_BY_NAME, self._named_schemas),
            **dict.fromkeys(BRANCHES, self._branches),
            **dict.fromkeys(COUNTS, self._count),
            **dict.fromkeys(PASSED, self._pass),
            **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), self._bound),
            **dict.fromkeys(("unevaluatedProperties", "unevaluatedItems"), self._unevaluated),
            "items": self._items,
            "additionalItems": self._nothing,  # read with `items`; without a tuple it says nothing
            "additionalProperties": self._subschema,
            "propertyNames": self._property_names,
            "uniqueItems": self._unique,
            "$ref": self._reference,
            "type": self._type,
            "format": self._format,
            "nullable": self._pass,
        }

    def run(self) -> JsonObject:
        prepared = self._schema(cast(Json, self._root), ())
        out = prepared if isinstance(prepared, dict) else {}
        done: set[str] = set()
        while waiting := self._targets.keys() - done:
            for pointer in sorted(waiting):
                done.add(pointer)
                path = tuple(self._parts(pointer))
                target = self._schema(self._resolve(pointer), path)
                definitions = out.setdefault("$defs", {})
                assert isinstance(definitions, dict)
                definitions[self._targets[pointer]] = target
        return out

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
        embedded = bool(path) and isinstance(own := node.get("$id"), str) and not own.startswith("#")
        self._embedded += embedded
        self._check_dialect(node, path)
        out: dict[str, Json] = {}
        for key, value in node.items():
            if key in ANNOTATIONS or key.startswith("x-"):
                continue
            if key not in self._keywords:
                raise self._refuse((*path, key), f"the keyword {key!r} cannot be enforced")
            self._keywords[key](out, key, value, node, (*path, key))
        self._embedded -= embedded
        return self._nullable(out)

    def _check_dialect(self, node: _Node, path: _Path) -> None:
        dialect = node.get("$schema")
        if dialect is not None and not (isinstance(dialect, str) and "://json-schema.org/" in dialect):
            raise self._refuse((*path, "$schema"), f"{dialect!r} is none of json-schema.org's drafts")

    # -- keywords

    def _pass(self, out: dict[str, Json], key: str, value: Json, node: _Node, path: _Path) -> None:
        out[key] = value

    def _nothing(self, out: dict[str, Json], key: str, value: Json, node: _Node, path: _Path) -> None:
        pass

    def _subschema(self, out: dict[str, Json], key: str, value: Json, node: _Node, path: _Path) -> None:
        out[key] = self._schema(value, path)

    def _named_schemas(self, out: dict[str, Json], key: str, value: Json, node: _Node, path: _Path) -> None:
        if not isinstance(value, Mapping):
            raise self._refuse(path, "must be an object of schemas")
        named = {name: self._schema(item, (*path, name)) for name, item in value.items()}
        before = out.get(key)
        out[key] = {**before, **named} if isinstance(before, dict) else named

    def _branches(self, out: dict[str, Json], key: str, value: Json, node: _Node, path: _Path) -> None:
        if not isinstance(value, list) or not value:
            raise self._refuse(path, "must be a list of schemas, at least one")
        schemas = [self._schema(item, (*path, str(i))) for i, item in enumerate(value)]
        if key == "allOf":
            self._also(out, *schemas)
        elif key == "oneOf":
            if not self._disjoint.all(value):
                raise self._refuse(path, "oneOf is enforced only where its branches cannot match together; use anyOf")
            self._also(out, {"anyOf": schemas}) if "anyOf" in node else out.update(anyOf=schemas)
        else:
            out[key] = schemas

    def _items(self, out: dict[str, Json], key: str, value: Json, node: _Node, path: _Path) -> None:
        if not isinstance(value, list):
            out[key] = self._schema(value, path)
            return
        # The tuple form of drafts before 2020-12.
        out["prefixItems"] = [self._schema(item, (*path, str(i))) for i, item in enumerate(value)]
        if "additionalItems" in node:
            out["items"] = self._schema(node["additionalItems"], (*path[:-1], "additionalItems"))

    def _count(self, out: dict[str, Json], key: str, value: Json, node: _Node, path: _Path) -> None:
        number = int(value) if isinstance(value, float) and value.is_integer() else value
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise self._refuse(path, "must be a whole number, at least 0")
        out[key] = number

    def _bound(self, out: dict[str, Json], key: str, value: Json, node: _Node, path: _Path) -> None:
        """In draft 4 and OpenAPI 3.0 it is a switch of the limit beside it."""
        if not isinstance(value, bool):
            out[key] = value
            return
        limit = node.get("minimum" if key == "exclusiveMinimum" else "maximum")
        if value and limit is not None:
            out[key] = limit

    def _unevaluated(self, out: dict[str, Json], key: str, value: Json, node: _Node, path: _Path) -> None:
        """With no schema beside it that applies in place, it is `additionalProperties` (or `items`) by another name."""
        if IN_PLACE & node.keys():
            raise self._refuse(path, f"the keyword {key!r} cannot be enforced beside others that apply in place")
        plain = "additionalProperties" if key == "unevaluatedProperties" else "items"
        if plain not in node:
            out[plain] = self._schema(value, path)

    def _property_names(self, out: dict[str, Json], key: str, value: Json, node: _Node, path: _Path) -> None:
        """Enforced where every name is free (as generators write it for maps), or where a pattern is all there is."""
        names = self._schema(value, path)
        if names is True or names in ({}, {"type": "string"}):
            return
        pattern = names.get("pattern") if isinstance(names, dict) and names.keys() <= {"type", "pattern"} else None
        if not isinstance(pattern, str) or node.keys() & {"properties", "patternProperties"}:
            raise self._refuse(
                path, f"the keyword {key!r} is enforced only for a pattern, without properties beside it"
            )
        rest = self._schema(node.get("additionalProperties", True), (*path[:-1], "additionalProperties"))
        self._also(out, {"patternProperties": {pattern: rest}, "additionalProperties": False})

    def _unique(self, out: dict[str, Json], key: str, value: Json, node: _Node, path: _Path) -> None:
        if value is not False:
            raise self._refuse(path, f"the keyword {key!r} cannot be enforced")

    def _type(self, out: dict[str, Json], key: str, value: Json, node: _Node, path: _Path) -> None:
        for name in value if isinstance(value, list) else [value]:
            if name not in TYPES:
                raise self._refuse(path, f"{name!r} is no JSON type")
        out[key] = value

    def _format(self, out: dict[str, Json], key: str, value: Json, node: _Node, path: _Path) -> None:
        if not isinstance(value, str):
            raise self._refuse(path, "must be a string")
        if value in PATTERNS:
            own: Json = {"pattern": PATTERNS[value]}
            self._also(out, own) if "pattern" in node else out.update(pattern=PATTERNS[value])
        elif value in FORMATS:
            out[key] = value

    def _reference(self, out: dict[str, Json], key: str, value: Json, node: _Node, path: _Path) -> None:
        local = isinstance(value, str) and (value == "#" or value.startswith("#/"))
        if not isinstance(value, str) or not local:
            raise self._refuse(path, f"only references inside the schema (#/…) are followed, not {value!r}")
        if self._embedded:
            raise self._refuse(path, "references inside a part with an $id of its own are not followed")
        if self._resolve(value) is None:
            raise self._refuse(path, f"{value!r} points at nothing")
        parts = self._parts(value)
        if not parts or (len(parts) == 2 and parts[0] in ("$defs", "definitions") and _PLAIN.fullmatch(parts[1])):
            out[key] = value
        else:
            # What it points at may stand elsewhere once the schema is rewritten, or have a name that no URI can hold
            # as it is, so it gets a place of its own.
            name = self._targets.setdefault(value, f"target{len(self._targets)}")
            out[key] = f"#/$defs/{name}"

    # -- parts

    @staticmethod
    def _also(out: dict[str, Json], *schemas: Json) -> None:
        """One more condition on the same value."""
        before = out.get("allOf")
        out["allOf"] = [*before, *schemas] if isinstance(before, list) else list(schemas)

    @staticmethod
    def _parts(pointer: str) -> list[str]:
        return [unquote(raw).replace("~1", "/").replace("~0", "~") for raw in pointer[1:].split("/")[1:]]

    def _resolve(self, pointer: str) -> Json:
        """What a local reference points at, None for nothing."""
        if pointer != "#" and not pointer.startswith("#/"):
            return None
        node: Json = cast(Json, self._root)
        for part in self._parts(pointer):
            if isinstance(node, Mapping) and part in node:
                node = node[part]
            elif isinstance(node, list) and part.isdigit() and int(part) < len(node):
                node = node[int(part)]
            else:
                return None
        return node

    @staticmethod
    def _nullable(out: dict[str, Json]) -> Json:
        """OpenAPI 3.0's `nullable` beside a type is a union with null. Definitions stay where references find them."""
        if not out.pop("nullable", False):
            return out
        kept: dict[str, Json] = {key: out.pop(key) for key in ("$defs", "definitions") if key in out}
        return {"anyOf": [out, {"type": "null"}], **kept}
