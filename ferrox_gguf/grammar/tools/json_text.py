"""A value written as JSON inside markup: the schema that llguidance gets for it.

References are made to stand on their own, and no string may hold the marker that ends the value: a parser that reads
markup takes it for the end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from llguidance import LLMatcher

from ferrox_gguf.grammar.schema import WHITE_SPACE
from ferrox_gguf.grammar.tools.pattern import without
from ferrox_gguf.grammar.tools.schemas import Path, Schemas
from ferrox_gguf.json_types import Json, JsonObject

_ANY = "any"
_PARTS = ("properties", "patternProperties")
_LISTS = ("anyOf", "allOf", "prefixItems")
_DROPPED = ("$defs", "definitions")


def json_text(schemas: Schemas, alternatives: Sequence[JsonObject], path: Path, markers: Sequence[str] = ()) -> str:
    """Lark for a JSON value of one of `alternatives`, which are prepared. markers: what no string in it may hold."""
    writing = _Writing(schemas, tuple(markers))
    parts = [writing.schema(dict(part)) for part in alternatives]
    writing.follow()
    whole: dict[str, Json] = {"x-guidance": {"whitespace_pattern": WHITE_SPACE}}
    whole |= parts[0] if len(parts) == 1 and isinstance(parts[0], dict) else {"anyOf": parts}
    if writing.definitions:
        whole["$defs"] = writing.definitions
    text = json.dumps(whole, ensure_ascii=True)
    if len(text) > 120:
        _check(schemas, text, path)
    return f"%json {text}"


def _check(schemas: Schemas, text: str, path: Path) -> None:
    """llguidance names a keyword that it cannot enforce, not where it stands: here the parameter is still known."""
    if reason := _reason(text):
        raise schemas.refuse(path, reason)


@lru_cache(maxsize=1024)
def _reason(text: str) -> str:
    """Why llguidance refuses a schema; empty if it does not. Tools repeat their schemas, and clients their tools."""
    said: str = LLMatcher.validate_grammar(LLMatcher.grammar_from_lark(f"start: %json {text}"))
    return next((line.strip() for line in said.splitlines() if line.strip()), said)[:300]


@dataclass
class _Writing:
    schemas: Schemas
    markers: tuple[str, ...]
    definitions: dict[str, Json] = field(default_factory=dict)
    _pointers: dict[str, str] = field(default_factory=dict)
    _waiting: list[str] = field(default_factory=list)
    _patterns: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._patterns = without(self.markers)

    def follow(self) -> None:
        while self._waiting:
            pointer = self._waiting.pop()
            self.definitions[self._pointers[pointer]] = self.schema(self.schemas.follow(pointer))

    def schema(self, node: Json) -> Json:
        if not isinstance(node, Mapping):
            return self._anything() if node is not False and self.markers else node
        if not node and self.markers:
            return self._anything()
        out: dict[str, Json] = {}
        for key, value in node.items():
            if key in _DROPPED:
                continue
            if key == "$ref" and isinstance(value, str):
                out[key] = f"#/$defs/{self._name(value)}"
            elif key in _PARTS and isinstance(value, Mapping):
                out[key] = {name: self.schema(part) for name, part in value.items()}
            elif key in _LISTS and isinstance(value, list):
                out[key] = [self.schema(part) for part in value]
            elif key in ("items", "additionalProperties"):
                out[key] = self.schema(value)
            elif key == "enum" and isinstance(value, list):
                out[key] = [item for item in value if not self._holds_marker(item)]
            else:
                out[key] = value
        if self.markers and "$ref" not in out:
            self._fence(out)
        return out

    def _name(self, pointer: str) -> str:
        if pointer not in self._pointers:
            self._pointers[pointer] = f"r{len(self._pointers)}"
            self._waiting.append(pointer)
        return self._pointers[pointer]

    def _holds_marker(self, value: Json) -> bool:
        text = json.dumps(value, ensure_ascii=False)
        return any(marker in text for marker in self.markers)

    def _fence(self, out: dict[str, Json]) -> None:
        """Keep the marker out of the strings that the schema leaves free, at this level."""
        if "enum" in out or "const" in out:
            return
        kinds = out.get("type")
        names = kinds if isinstance(kinds, list) else [kinds] if kinds is not None else []
        given = out.get("allOf")
        parts: list[Json] = [*given] if isinstance(given, list) else []
        united = "anyOf" in out or bool(parts)
        if "string" in names or (not names and not united):
            out["allOf"] = [*parts, *self._fences()]
        if "array" in names or (not names and not united):
            out.setdefault("items", self._anything())
        if "object" in names or (not names and not united):
            self._close(out)

    def _close(self, out: dict[str, Json]) -> None:
        """Keep the markers out of names that the schema leaves open. Beside named members it leaves none open then:
        a pattern for other names would hold for the named ones as well."""
        named = "properties" in out or "patternProperties" in out
        rest = out.get("additionalProperties", self._anything())
        if not named and rest is not False:
            out["patternProperties"] = dict.fromkeys(self._patterns[:1], rest)
        out["additionalProperties"] = False

    def _anything(self) -> Json:
        reference: Json = {"$ref": f"#/$defs/{_ANY}"}
        if _ANY not in self.definitions:
            self.definitions[_ANY] = {
                "anyOf": [
                    {"type": ["null", "boolean", "number"]},
                    {"type": "string", "allOf": self._fences()},
                    {"type": "array", "items": reference},
                    {
                        "type": "object",
                        "patternProperties": {self._patterns[0]: reference},
                        "additionalProperties": False,
                    },
                ]
            }
        return reference

    def _fences(self) -> list[Json]:
        return [{"pattern": pattern} for pattern in self._patterns]
