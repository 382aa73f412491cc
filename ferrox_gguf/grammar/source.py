"""The forms in which a constraint reaches llguidance: one string that it compiles, and what the string stands for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from llguidance import LLMatcher

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.grammar.gbnf import GbnfError, gbnf_to_lark
from ferrox_gguf.grammar.schema import WHITE_SPACE, prepare_schema
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.request import GrammarKind, GrammarSpec

MAX_SOURCE = 512 * 1024
"""Characters of a grammar or schema. 100 kB of tools must pass; a megabyte of anything is no grammar."""


@dataclass(frozen=True, slots=True)
class Source:
    """text: llguidance's own serialised grammar.  field: the request field it came from, for errors.

    schemas: the caller's schemas in it, each with its field: where a part stands is looked up there when it is refused.
    """

    text: str
    field: str
    schemas: tuple[tuple[str, JsonObject], ...] = ()


def _no_special(text: str) -> int | None:
    return None


def source_of(spec: GrammarSpec, special: Callable[[str], int | None] = _no_special) -> Source:
    """Translate what the caller wrote. Raises InvalidField naming the field (and the path inside a schema).

    special: the id of a text that the vocabulary holds as one special token; llguidance never matches those by text.
    """
    field = {GrammarKind.JSON_SCHEMA: "json_schema", GrammarKind.GBNF: "grammar", GrammarKind.LARK: "grammar"}[
        spec.kind
    ]
    if len(spec.source) > MAX_SOURCE:
        raise InvalidField(field, f"longer than {MAX_SOURCE} characters")
    if spec.kind is GrammarKind.JSON_SCHEMA:
        schema = _parse(spec.source, field)
        schemas = ((field, schema),) if isinstance(schema, Mapping) else ()
        return Source(json_grammar(schema, field=field), field, schemas)
    lark = _from_gbnf(spec.source, special) if spec.kind is GrammarKind.GBNF else spec.source
    return Source(LLMatcher.grammar_from_lark(lark), field)


def json_grammar(schema: Json, *, field: str) -> str:
    """A whole output that is one JSON value of `schema`."""
    prepared = prepare_schema(schema, field=field)
    try:
        return str(LLMatcher.grammar_from_json_schema(dict(prepared), overrides={"whitespace_pattern": WHITE_SPACE}))
    except ValueError as error:
        raise InvalidField(field, str(error)) from error


def inline_json(schema: JsonObject, *, field: str) -> str:
    """The same value as a part of a Lark grammar."""
    prepared = dict(prepare_schema(cast(Json, dict(schema)), field=field))
    prepared["x-guidance"] = {"whitespace_pattern": WHITE_SPACE}
    return "%json " + json.dumps(prepared, ensure_ascii=True)


def _parse(source: str, field: str) -> Json:
    try:
        parsed: Json = json.loads(source)
    except (ValueError, RecursionError) as error:
        raise InvalidField(field, f"not JSON: {error}") from error
    return parsed


def _from_gbnf(source: str, special: Callable[[str], int | None]) -> str:
    try:
        return gbnf_to_lark(source, special)
    except GbnfError as error:
        raise InvalidField("grammar", f"not a GBNF grammar: {error}") from error
