"""What every tool-call grammar is made of: markers, names, and values in llguidance's Lark dialect.

A tool-call constraint is one Lark grammar: the family's own wire form, with each tool's schema inside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ferrox_gguf.grammar.source import inline_json
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.posture.values import CallMarkers
from ferrox_gguf.request import Tool

LAYOUT = r"/[ \t\r\n]{0,4}/"
"""Optional white space between the parts of a call, bounded."""

_MARKER = re.compile(r"(\]<\]minimax\[>\[|<[^<>\s]{1,80}>|\[[A-Z_/]{1,40}\])")
"""What looks like a special token inside of text: angle brackets, Mistral's square ones, MiniMax's own mark."""

_OPEN = frozenset(
    "additionalProperties unevaluatedProperties patternProperties propertyNames $ref anyOf oneOf allOf".split()
)
"""Keywords with which an object may hold more than `properties` lists."""


@dataclass(frozen=True, slots=True)
class CallRules:
    """What a request allows.

    tools: all that are offered; allowed: the indices of those that may be called.  parallel: more than one call.
    markers: the form found by comparing renderings, for the "custom" syntax only.
    special: the id of a text that the vocabulary holds as one special token, else None. llguidance never matches a
    special token by its text, so a marker is written by id exactly when the vocabulary has it.
    end_tokens: ids that end generation: whatever such a marker would open is never written.
    """

    tools: Sequence[Tool]
    allowed: tuple[int, ...]
    parallel: bool
    special: Callable[[str], int | None]
    markers: CallMarkers | None = None
    end_tokens: frozenset[int] = frozenset()

    def marker(self, text: str) -> str:
        """A marker as Lark: by id where the vocabulary has one token for it, else as text."""
        token = self.special(text)
        return literal(text) if token is None else f"<[{token}]>"

    def pieces(self, text: str) -> Iterator[str | int]:
        """Text with markers in it: its plain stretches, and the ids of those markers that are special tokens."""
        for part in filter(None, _MARKER.split(text)):
            token = self.special(part) if _MARKER.fullmatch(part) else None
            yield part if token is None else token

    def ends(self, marker: str) -> bool:
        """Is this marker a token that ends generation?"""
        token = self.special(marker) if marker else None
        return token is not None and token in self.end_tokens

    def field(self, index: int) -> str:
        """How an error names a tool's schema."""
        return f"tools.{index}.function.parameters"

    def arguments(self, index: int) -> str:
        """One tool's whole argument object, as a JSON value."""
        return inline_json(object_schema(self.tools[index]), field=self.field(index))


class ToolGrammar(Protocol):
    """One syntax's constraint: a Lark grammar whose `start` is one call or, if allowed, several."""

    def lark(self, rules: CallRules) -> str: ...


def literal(text: str) -> str:
    """A text as a Lark string."""
    return json.dumps(text, ensure_ascii=True)


def object_schema(tool: Tool) -> JsonObject:
    """A tool's parameters as the schema of an object: clients leave `type` out, or the whole schema.

    Arguments are always an object, whatever else the schema allows; one that lists its properties and says nothing of
    others means these.
    """
    schema: dict[str, Json] = {**tool.parameters, "type": "object"}
    if not schema.keys() & _OPEN:
        schema.setdefault("properties", {})
        schema["additionalProperties"] = False
    return schema


def repeated(call: str, rules: CallRules, separator: str = LAYOUT) -> str:
    """`call` once, or several times with `separator` between, as the request allows."""
    return f"{call} ({separator} {call})*" if rules.parallel else call


def alternatives(name: str, branches: Sequence[str]) -> str:
    """One Lark rule of several branches."""
    return f"{name}: " + "\n    | ".join(branches)
