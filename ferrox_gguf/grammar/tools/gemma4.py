"""The constraint of `<|tool_call>call:NAME{KEY:VAL,…}<tool_call|>`: bare keys, strings in quotes of their own."""

from __future__ import annotations

import re

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.grammar.tools.lines import Lines, spelled
from ferrox_gguf.grammar.tools.literals import Literals
from ferrox_gguf.grammar.tools.rules import LAYOUT, CallRules, literal, object_schema, repeated
from ferrox_gguf.grammar.tools.schemas import Branch, Path, Schemas
from ferrox_gguf.grammar.tools.texts import Ending, ended, string_text

OPENER, CLOSER, QUOTE = "<|tool_call>", "<tool_call|>", '<|"|>'
_NAME = re.compile(r"[^\s<{]{1,200}")
_KEY = re.compile(r"[\w.$-]{1,200}")


class GemmaNotation:
    words = (("null",), ("false",), ("true",))

    def __init__(self, rules: CallRules) -> None:
        self._rules = rules

    def string(self, lines: Lines, schemas: Schemas, branch: Branch, path: Path) -> str | None:
        text = string_text(schemas, branch, path, markers=(QUOTE,))
        return f"{spelled(self._rules, QUOTE)} {ended(lines, self._rules, text, Ending(QUOTE))}" if text else None

    def key(self, schemas: Schemas, key: str, path: Path) -> str:
        if _KEY.fullmatch(key) is None:
            raise schemas.refuse(path, "a member of this name cannot be written in the model's tool-call form")
        return literal(key)

    def any_key(self, lines: Lines) -> str:
        return lines.terminal("/[A-Za-z_][A-Za-z0-9_]{0,63}/")


class Gemma4:
    def lark(self, rules: CallRules) -> str:
        lines = Lines()
        calls = [self._call(rules, lines, index) for index in rules.allowed]
        call = lines.rule("\n | ".join(calls), "call")
        lines.define("start", f"{LAYOUT} {repeated(call, rules)}")
        return lines.text()

    def _call(self, rules: CallRules, lines: Lines, index: int) -> str:
        name = rules.tools[index].name
        if _NAME.fullmatch(name) is None:
            raise InvalidField(
                f"tools.{index}.function.name", "this name cannot be written in the model's tool-call form"
            )
        schemas = Schemas(object_schema(rules.tools[index]), rules.field(index))
        literals = Literals(lines, schemas, GemmaNotation(rules))
        members = [
            literals.members(schemas.members(branch, ()), ())
            for branch in schemas.branches(dict(schemas.root), ())
            if branch.kind in ("object", "")
        ]
        if not members:
            raise schemas.refuse((), "no object can match, so no call can be written")
        arguments = lines.rule("\n | ".join(members), "args")
        return f'{spelled(rules, OPENER)} {literal(f"call:{name}{{")} {arguments} "}}" {spelled(rules, CLOSER)}'
