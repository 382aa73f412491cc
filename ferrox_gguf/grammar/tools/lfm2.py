"""The constraint of `<|tool_call_start|>[NAME(KEY=VAL, …), …]<|tool_call_end|>`: calls as Python writes them."""

from __future__ import annotations

import re

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.grammar.tools.lines import Lines, spelled
from ferrox_gguf.grammar.tools.literals import COMMA, Literals
from ferrox_gguf.grammar.tools.members import member_rules
from ferrox_gguf.grammar.tools.rules import LAYOUT, CallRules, literal, object_schema, repeated
from ferrox_gguf.grammar.tools.schemas import Branch, Path, Schemas
from ferrox_gguf.grammar.tools.texts import listed, said, string_text

OPENER, CLOSER = "<|tool_call_start|>", "<|tool_call_end|>"
_NAME = re.compile(r"[^\s<>()\[\],\"'=]{1,200}")
_KEY = re.compile(r"[^\W\d][\w-]{0,200}")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


class PythonNotation:
    """JSON's words are read as well, so both are let through. Strings by pattern go without escapes and quotes."""

    words = (("None", "null"), ("False", "false"), ("True", "true"))

    def string(self, lines: Lines, schemas: Schemas, branch: Branch, path: Path) -> str | None:
        schema = branch.schema
        if branch.values is not None:
            written = [f'"{value.translate(_ESCAPES)}"' for value in listed(schemas, branch, path)]
            return lines.terminal(" | ".join(map(literal, written))) if written else None
        if said(branch, "pattern") or said(branch, "format"):
            text = string_text(schemas, branch, path).lark()
            inside = lines.terminal(f"({text} & /[^\"'\\\\]*/)")
            return lines.terminal(f'("\\"" {inside} "\\"") | ("\'" {inside} "\'")')
        least, most = schema.get("minLength", 0), schema.get("maxLength")
        count = f"{{{least},{'' if most is None else most}}}" if least or most is not None else "*"
        escapes = r"\\[\"'\\nrt]"
        double = rf"\"(?:[^\"\\]|{escapes}){count}\""
        single = rf"'(?:[^'\\]|{escapes}){count}'"
        return lines.terminal(f"/{double}|{single}/")

    def key(self, schemas: Schemas, key: str, path: Path) -> str:
        written = key.translate(_ESCAPES)
        double = literal(f'"{written}"')
        return double if "'" in key or written != key else f"({double} | {literal(repr(key))})"

    def any_key(self, lines: Lines) -> str:
        return lines.terminal(r"/\"[A-Za-z_][A-Za-z0-9_ .-]{0,63}\"|'[A-Za-z_][A-Za-z0-9_ .-]{0,63}'/")


class Lfm2:
    def lark(self, rules: CallRules) -> str:
        lines = Lines()
        calls = [self._call(rules, lines, index) for index in rules.allowed]
        call = lines.rule("\n | ".join(calls), "call")
        section = f'{spelled(rules, OPENER)} "[" {repeated(call, rules, COMMA)} "]" {spelled(rules, CLOSER)}'
        lines.define("start", f"{LAYOUT} {section}")
        return lines.text()

    def _call(self, rules: CallRules, lines: Lines, index: int) -> str:
        name = rules.tools[index].name
        if _NAME.fullmatch(name) is None:
            raise InvalidField(
                f"tools.{index}.function.name", "this name cannot be written in the model's tool-call form"
            )
        schemas = Schemas(object_schema(rules.tools[index]), rules.field(index))
        literals = Literals(lines, schemas, PythonNotation())
        found = [b for b in schemas.branches(dict(schemas.root), ()) if b.kind in ("object", "")]
        if not found:
            raise schemas.refuse((), "no object can match, so no call can be written")
        arguments = lines.rule(
            "\n | ".join(self._keywords(lines, schemas, literals, branch) for branch in found), "args"
        )
        return f'{literal(f"{name}(")} {arguments} ")"'

    def _keywords(self, lines: Lines, schemas: Schemas, literals: Literals, branch: Branch) -> str:
        members = schemas.members(branch, ())
        rest = None
        if members.rest is not None and not members.properties:
            value = (
                literals.anything() if members.rest is True else literals.value(members.rest, ("additionalProperties",))
            )
            rest = lines.rule(f'/[A-Za-z_][A-Za-z0-9_]{{0,63}}/ "=" {value}', "rest")

        def write(key: str, path: Path) -> str:
            if _KEY.fullmatch(key) is None:
                raise schemas.refuse(path, "a parameter of this name cannot be written in the model's tool-call form")
            return f"{literal(f'{key}=')} {literals.value(members.properties[key], path)}"

        return member_rules(schemas, lines, members, (), write, rest, COMMA)
