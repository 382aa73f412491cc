"""Calls whose arguments are one element a parameter, values raw or as JSON text: what such constraints are made of.

A syntax is a `Form`: how its markup looks. The types that its parser looks for are those of `declared.py`; a text is
let through only if it will be read as a value that the schema allows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Protocol

from ferrox_gguf.declared import STRING, Declared
from ferrox_gguf.errors import InvalidField
from ferrox_gguf.grammar.tools.json_text import json_text
from ferrox_gguf.grammar.tools.lines import Lines, spelled
from ferrox_gguf.grammar.tools.members import member_rules
from ferrox_gguf.grammar.tools.rules import LAYOUT, CallRules, literal, object_schema, repeated
from ferrox_gguf.grammar.tools.schemas import Branch, Members, Path, Schemas
from ferrox_gguf.grammar.tools.texts import (
    FREE_TEXT,
    Ending,
    Text,
    ended,
    misread,
    scalar_text,
    string_text,
)
from ferrox_gguf.json_types import Json

KEY = r"[^\s<>\"'=&|]{1,200}"
"""Names that can stand in any family's markup."""

REST_KEY = "[A-Za-z_][A-Za-z0-9_.-]{0,63}"
"""Names of members that a schema allows without naming them."""


class Head(Protocol):
    """A parameter's opening, up to its value. kind: the JSON type of what follows."""

    def __call__(self, key: str, kind: str) -> str: ...


@dataclass(frozen=True)
class Form:
    """How a family writes calls, as markup (with `GAP`s in it); white space may stand between its parts.

    section: around all calls, or nothing.  call: before and behind one, NAME standing for its name.
    head: a parameter's opening; key: what may be a name in it.  ending: what closes a value.
    said: the opening says the value's type.  said_wins: a parser believes it more than the schema.
    undeclared: what a parser takes a parameter for that the schema declares no type of.
    """

    call: tuple[str, str]
    head: Head
    ending: Ending
    section: tuple[str, str] = ("", "")
    key: str = KEY
    said: bool = False
    said_wins: bool = False
    undeclared: Declared = field(default_factory=Declared)


class Tagged:
    """The grammar of a `Form`."""

    def __init__(self, form: Form) -> None:
        self.form = form

    def lark(self, rules: CallRules) -> str:
        lines = Lines()
        calls = [self.call(rules, lines, index) for index in rules.allowed]
        section = self.section(rules, lines, lines.rule("\n | ".join(calls), "call"))
        lines.define("start", self.around(rules, lines, f"{LAYOUT} {section}"))
        return lines.text()

    def section(self, rules: CallRules, lines: Lines, call: str) -> str:
        """One call or several, with what stands around them."""
        opener, closer = (spelled(rules, marker) for marker in self.form.section)
        calls = repeated(call, rules)
        return f"{opener} {LAYOUT} {calls} {LAYOUT} {closer}" if opener else calls

    def around(self, rules: CallRules, lines: Lines, calls: str) -> str:
        """What stands before and behind the calls, for families with more markup than a section's."""
        return calls

    def call(self, rules: CallRules, lines: Lines, index: int) -> str:
        name = rules.tools[index].name
        if re.fullmatch(self.form.key, name) is None:
            raise InvalidField(
                f"tools.{index}.function.name", "this name cannot be written in the model's tool-call form"
            )
        schemas = Schemas(object_schema(rules.tools[index]), rules.field(index))
        arguments = self.arguments(rules, lines, schemas)
        return f"{self.opening(rules, name)} {LAYOUT} {arguments} {spelled(rules, self.form.call[1])}"

    def opening(self, rules: CallRules, name: str) -> str:
        return spelled(rules, self.form.call[0].replace("NAME", name))

    def arguments(self, rules: CallRules, lines: Lines, schemas: Schemas) -> str:
        found = [branch for branch in schemas.branches(dict(schemas.root), ()) if branch.kind in ("object", "")]
        if not found:
            raise schemas.refuse((), "no object can match, so no call can be written")
        return lines.rule("\n | ".join(self._members(rules, lines, schemas, branch) for branch in found), "args")

    def _members(self, rules: CallRules, lines: Lines, schemas: Schemas, branch: Branch) -> str:
        members = schemas.members(branch, ())

        def write(key: str, path: Path) -> str:
            self.require_key(schemas, key, path)
            declared = schemas.declared.member(key)
            return f"{self.parameter(rules, lines, schemas, key, members.properties[key], declared, path)} {LAYOUT}"

        return member_rules(schemas, lines, members, (), write, self.rest(rules, lines, schemas, members))

    def require_key(self, schemas: Schemas, key: str, path: Path) -> None:
        if re.fullmatch(self.form.key, key) is None:
            raise schemas.refuse(path, "a parameter of this name cannot be written in the model's tool-call form")

    def rest(self, rules: CallRules, lines: Lines, schemas: Schemas, members: Members) -> str | None:
        """A parameter that the schema allows without naming it."""
        if members.rest is None:
            return None
        declared = schemas.declared.member("\0")
        known = "".join(f" & ~{literal(name)}" for name in members.properties)
        mark = "\uf8ff"
        written = self.parameter(rules, lines, schemas, mark, members.rest, declared, ("additionalProperties",))
        key = lines.terminal(f"/{REST_KEY}/{known}")
        return lines.rule(f"{written} {LAYOUT}".replace(r"\uf8ff", f'" {key} "'), "rest")

    def parameter(
        self, rules: CallRules, lines: Lines, schemas: Schemas, key: str, node: Json, declared: Declared, path: Path
    ) -> str:
        """One parameter from its opening to its ending."""
        branches = schemas.branches(node, path)
        if self.form.said:
            known = frozenset() if self.form.said_wins else declared.types
            return self._by_kind(rules, lines, schemas, key, branches, known, path)
        head = spelled(rules, self.form.head(key, ""))
        types = declared.types or self.form.undeclared.types
        return f"{head} {self.value(rules, lines, schemas, branches, types, path, self.form.ending)}"

    def _by_kind(
        self,
        rules: CallRules,
        lines: Lines,
        schemas: Schemas,
        key: str,
        branches: list[Branch],
        known: frozenset[str],
        path: Path,
    ) -> str:
        """Where the opening says what the value is, it is read so, unless other types are known."""
        if any(branch.kind == "" for branch in branches):
            branches = [Branch("string"), *(Branch(kind, {"type": kind}) for kind in OTHER_KINDS)]
        found: list[str] = []
        for branch in branches:
            head = spelled(rules, self.form.head(key, branch.kind))
            types = known or frozenset({branch.kind})
            if is_read(branch.kind, types):
                found.append(f"{head} {self.value(rules, lines, schemas, [branch], types, path, self.form.ending)}")
        if not found:
            raise schemas.refuse(path, "no value can match")
        return lines.rule("\n | ".join(found), "p")

    def value(
        self,
        rules: CallRules,
        lines: Lines,
        schemas: Schemas,
        branches: list[Branch],
        types: frozenset[str],
        path: Path,
        ending: Ending,
    ) -> str:
        """Lark for a value up to behind its ending. types: those that a parser looks for; none: it guesses."""
        if any(branch.kind == "" for branch in branches):
            if not types or types == STRING.types:
                return self.raw(rules, lines, FREE_TEXT, ending)
            branches = [Branch(kind, {"type": kind}) for kind in sorted(types)]
        readable = [branch for branch in branches if is_read(branch.kind, types)]
        strings = [branch for branch in readable if branch.kind == "string"]
        others = [branch for branch in readable if branch.kind != "string"]
        found: list[str] = []
        if strings:
            scalars: list[str] = []
            apart: list[Branch] = []
            for branch in others:
                if (text := scalar_text(branch)) is not None:
                    scalars.append(text)
                else:
                    apart.append(branch)
            unless = misread(types, bounded=any(branch.kind in ("integer", "number") for branch in apart))
            union = Text(constants=tuple(scalars))
            for branch in strings:
                union |= string_text(schemas, branch, path, unless, ending.markers)
            others = apart
            if union:
                found.append(self.raw(rules, lines, union, ending))
        if others:
            value = json_text(schemas, [branch.schema for branch in others], path, ending.markers)
            found.append(self._json(rules, lines, value, ending))
        if not found:
            raise schemas.refuse(path, "no value of this schema can be written in the model's tool-call form")
        return found[0] if len(found) == 1 else lines.rule("\n | ".join(found), "v")

    def raw(self, rules: CallRules, lines: Lines, text: Text, ending: Ending) -> str:
        return ended(lines, rules, text, ending)

    def _json(self, rules: CallRules, lines: Lines, value: str, ending: Ending) -> str:
        rule = lines.once(value, "json")
        if ending.layout:
            rule = f'("\\n" {rule} "\\n" | {rule})'
        return f"{rule} {spelled(rules, ending.marker)}"


OTHER_KINDS = ("null", "boolean", "number", "array", "object")


def is_read(kind: str, types: frozenset[str]) -> bool:
    return not types or kind in types or (kind == "integer" and "number" in types)
