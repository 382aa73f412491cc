"""A value's text, as tagged syntaxes write it, becomes JSON: by its declared type, or by a guess where there is none.

Rules: wire formats, section 0 (Typing) and 4.3. Numbers are checked by JSON's grammar and kept as written; nothing is
ever converted, so that neither size nor strange digits can matter.
"""

from __future__ import annotations

import json
import re

from ferrox_gguf.declared import Declared
from ferrox_gguf.output.tool_calls.compact import CompactJson
from ferrox_gguf.output.tool_calls.cursor import SPACE

# JSON Schema counts 5.0 as an integer.
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.0+)?")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

# Characters that a word may take with the white space behind it; more is text.
_PATIENCE = 64

_CONTAINERS = frozenset({"object", "array"})
_BOOLEANS = {"true": "true", "True": "true", "false": "false", "False": "false"}


def quoted(text: str) -> str:
    """`text` inside a JSON string, without its quotes. Lone surrogates are escaped: they cannot be sent as UTF-8."""
    escaped = json.dumps(text, ensure_ascii=False)[1:-1]
    if escaped.isascii():
        return escaped
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", escaped)


class TypedValue:
    """One value, in pieces of its text.

    push() returns the JSON that became certain: a string's characters as they come, nothing of another type.
    close() returns the rest, the text being complete. A value that may be of several types is a string from the first
    character on that allows nothing else.
    """

    __slots__ = ("_bare", "_begun", "_json", "_out", "_pieces", "_types", "_word", "_words", "is_text")

    def __init__(self, declared: Declared) -> None:
        self._types = declared.types
        self._words = _words(declared.types)
        self._pieces: list[str] = []
        self._bare = False  # something but white space has come
        self._json: CompactJson | None = None
        self._out: list[str] = []
        self._word = ""
        self._begun = False
        self.is_text = self._types == {"string"}

    def push(self, text: str) -> str:
        if not text:
            return ""
        if self.is_text:
            begun, self._begun = self._begun, True
            return quoted(text) if begun else '"' + quoted(text)
        self._pieces.append(text)
        if self._types in ({"boolean"}, {"null"}) or self._may_be_typed(text):
            return ""
        self.is_text = self._begun = True
        return '"' + quoted(self._taken())

    def close(self) -> str:
        if self.is_text:
            return '"' if self._begun else '""'
        whole = self._taken()
        value = self._value(whole.strip(SPACE))
        return f'"{quoted(whole)}"' if value is None else value

    def _taken(self) -> str:
        whole = "".join(self._pieces)
        self._pieces.clear()
        return whole

    # -- other types than string

    def _may_be_typed(self, text: str) -> bool:
        """May the value, with `text` added, still be of another type than string?"""
        if not self._bare:
            text = text.lstrip(SPACE)
            if not text:
                return True
            self._bare = True
            if self._may_begin_json(text[0]):
                self._json = CompactJson()
        if self._json is not None:
            return self._feeds(self._json, text)
        self._word += text
        word = self._word.rstrip(SPACE)
        return len(self._word) <= _PATIENCE and any(allowed.startswith(word) for allowed in self._words)

    def _feeds(self, machine: CompactJson, text: str) -> bool:
        at, fragment = machine.feed(text)
        self._out.append(fragment)
        return not machine.failed and not text[at:].strip(SPACE)

    def _may_begin_json(self, char: str) -> bool:
        types = self._types
        if types and types <= _CONTAINERS:
            return char in '{["-0123456789'
        if char in "-0123456789":
            return not types or bool(types & {"integer", "number"})
        if char == "{":
            return not types or "object" in types
        return char == "[" and (not types or "array" in types)

    def _value(self, bare: str) -> str | None:
        """The complete value as JSON of another type than string; None: it is text."""
        if self._types == {"boolean"}:
            return "true" if bare.lower() == "true" else "false"
        if self._types == {"null"}:
            return "null"
        if (word := self._words.get(bare)) is not None:
            return word
        if self._json is None or not self._json.end():
            return None
        value = "".join(self._out)
        if value[0] in "-0123456789" and "integer" in self._types and "number" not in self._types:
            return value if _INTEGER.fullmatch(value) else None
        return value


def _words(types: frozenset[str]) -> dict[str, str]:
    """Words that are values of these types. Where a string may stand, only what cannot be meant as one."""
    if not types or types <= _CONTAINERS:
        return _BOOLEANS | {"null": "null", "None": "null"}
    words: dict[str, str] = {}
    if "boolean" in types:
        words |= _BOOLEANS
        if "string" not in types:
            words |= {"TRUE": "true", "FALSE": "false"}
    if "null" in types:
        words["null"] = "null"
        if "string" not in types:
            words |= {"None": "null", "NULL": "null", "Null": "null"}
    return words
