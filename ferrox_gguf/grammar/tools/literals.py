"""Arguments as literals that are not JSON: Gemma's, Python's. Here a schema becomes a grammar of such values.

The literal decides the type, so nothing has to be kept apart but by its first character.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ferrox_gguf.grammar.tools.json_text import json_text
from ferrox_gguf.grammar.tools.lines import Lines
from ferrox_gguf.grammar.tools.members import member_rules
from ferrox_gguf.grammar.tools.rules import literal
from ferrox_gguf.grammar.tools.schemas import KINDS, Branch, Members, Path, Schemas, kind_of
from ferrox_gguf.grammar.tools.texts import scalar_text
from ferrox_gguf.json_types import Json

COMMA, COLON = "/, ?/", "/: ?/"


class Notation(Protocol):
    """How a family writes literals, as Lark.

    words: of null, false and true.  string: those of a branch, None for none.  key: a name in an object; any_key: any
    such name.
    """

    @property
    def words(self) -> tuple[Sequence[str], Sequence[str], Sequence[str]]: ...

    def string(self, lines: Lines, schemas: Schemas, branch: Branch, path: Path) -> str | None: ...
    def key(self, schemas: Schemas, key: str, path: Path) -> str: ...
    def any_key(self, lines: Lines) -> str: ...


class Literals:
    """The values of one tool's schema."""

    def __init__(self, lines: Lines, schemas: Schemas, notation: Notation) -> None:
        self._lines, self._schemas, self._notation = lines, schemas, notation
        self._rules: dict[int, tuple[str, Json]] = {}
        self._any = ""

    def value(self, node: Json, path: Path) -> str:
        """The rule of a value of `node`."""
        if id(node) not in self._rules:
            name = self._lines.name("value")
            self._rules[id(node)] = (name, node)
            found = [text for branch in self._schemas.branches(node, path) if (text := self._branch(branch, path))]
            if not found:
                raise self._schemas.refuse(path, "no value of this schema can be written in the model's tool-call form")
            self._lines.define(name, "\n | ".join(dict.fromkeys(found)))
        return self._rules[id(node)][0]

    def anything(self) -> str:
        if not self._any:
            self._any = self._lines.name("any")
            free = [Branch(kind, {"type": kind}) for kind in KINDS if kind != "integer"]
            found = [text for branch in free if (text := self._branch(branch, ()))]
            self._lines.define(self._any, "\n | ".join(found))
        return self._any

    def _branch(self, branch: Branch, path: Path) -> str | None:
        kind = branch.kind
        if kind == "":
            return self.anything()
        if kind == "string":
            return self._notation.string(self._lines, self._schemas, branch, path)
        if kind in ("null", "boolean"):
            return self._words(branch)
        if kind in ("integer", "number"):
            scalar = scalar_text(branch)
            return self._lines.terminal(scalar) if scalar else json_text(self._schemas, [branch.schema], path)
        if branch.values is not None:
            return " | ".join(self._constant(value, path) for value in branch.values)
        return self._array(branch, path) if kind == "array" else self._object(branch, path)

    def _words(self, branch: Branch) -> str:
        values: Sequence[Json] = (
            branch.values if branch.values is not None else [None] * (branch.kind == "null") or [False, True]
        )
        words = [word for value in values for word in self._notation.words[0 if value is None else 1 + bool(value)]]
        return f"({' | '.join(map(literal, words))})"

    def _array(self, branch: Branch, path: Path) -> str:
        schema = branch.schema
        places = schema.get("prefixItems")
        prefix = places if isinstance(places, list) else []
        rest = schema.get("items", True)
        least, most = schema.get("minItems"), schema.get("maxItems")
        least = least if isinstance(least, int) else 0
        most = most if isinstance(most, int) else None
        rules = [self.value(place, (*path, "prefixItems", str(at))) for at, place in enumerate(prefix)]
        if rest is False:
            most = len(rules) if most is None else min(most, len(rules))
        if most is not None and least > most:
            return ""
        rules = rules[:most]
        inside = "" if most == len(rules) else self._further(rest, len(rules), least, most, path)
        for at in reversed(range(len(rules))):
            item = f"{COMMA} {rules[at]}" if at else rules[at]
            inside = f"{item} {inside}" if at < least else f"({item} {inside})?"
        return f'"[" {inside} "]"'

    def _further(self, items: Json, places: int, least: int, most: int | None, path: Path) -> str:
        """Items behind those of fixed places."""
        item = self.anything() if items is True else self.value(items, (*path, "items"))
        least, room = max(least - places, 0), "" if most is None else most - places
        if places:
            return f"({COMMA} {item}){{{least},{room}}}"
        more = "" if room == 1 else f"({COMMA} {item}){{{max(least - 1, 0)},{'' if room == '' else int(room) - 1}}}"
        return f"{item} {more}" if least else f"({item} {more})?"

    def _constant(self, value: Json, path: Path) -> str:
        """A listed value, written out."""
        if isinstance(value, list):
            return f'"[" {f" {COMMA} ".join(self._constant(item, path) for item in value)} "]"'
        if isinstance(value, dict):
            entries = [
                f"{self._notation.key(self._schemas, key, path)} {COLON} {self._constant(item, path)}"
                for key, item in value.items()
            ]
            return f'"{{" {f" {COMMA} ".join(entries)} "}}"'
        kind = kind_of(value)
        written = self._branch(Branch(kind, {"enum": [value]}), path)
        if not written:
            raise self._schemas.refuse(path, "a listed value cannot be written in the model's tool-call form")
        return written

    def _object(self, branch: Branch, path: Path) -> str:
        schema = branch.schema
        if "properties" not in schema and "additionalProperties" not in schema:
            free = Members({}, frozenset(), True, 0, None)
            if schema.keys() & {"required", "minProperties", "maxProperties", "patternProperties"}:
                raise self._schemas.refuse(path, "members without names cannot be enforced in this tool-call form")
            return f'"{{" {self.members(free, path)} "}}"'
        return f'"{{" {self.members(self._schemas.members(branch, path), path)} "}}"'

    def members(self, members: Members, path: Path) -> str:
        rest = None
        if members.rest is not None:
            value = (
                self.anything() if members.rest is True else self.value(members.rest, (*path, "additionalProperties"))
            )
            # A name that is declared could be written so too, with a value of another schema.
            key = self._notation.any_key(self._lines)
            rest = None if members.properties else self._lines.rule(f"{key} {COLON} {value}", "rest")

        def write(key: str, where: Path) -> str:
            return (
                f"{self._notation.key(self._schemas, key, where)} {COLON} {self.value(members.properties[key], where)}"
            )

        return member_rules(self._schemas, self._lines, members, path, write, rest, COMMA)
