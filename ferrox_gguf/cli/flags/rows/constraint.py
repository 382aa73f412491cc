"""What form an answer keeps to when its request does not say."""

from __future__ import annotations

import json

from ferrox_gguf.cli.flags.flag import Flag, Group, Value
from ferrox_gguf.cli.flags.values import contents
from ferrox_gguf.request import GrammarKind, GrammarSpec


def gbnf(source: str) -> GrammarSpec:
    """A grammar in llama.cpp's notation."""
    return GrammarSpec(kind=GrammarKind.GBNF, source=source)


def json_schema(source: str) -> GrammarSpec:
    """A JSON Schema; that it is JSON is checked here, what it says when the model is loaded."""
    try:
        json.loads(source)
    except ValueError as error:
        raise ValueError(f"this is not JSON: {error}") from None
    return GrammarSpec(kind=GrammarKind.JSON_SCHEMA, source=source)


ROWS = (
    Flag(
        names=("--grammar",),
        group=Group.CONSTRAINT,
        value=Value("GRAMMAR", gbnf),
        sets="generation.grammar",
        default="none",
        help="keep answers to this grammar (GBNF), unless the request brings its own constraint",
    ),
    Flag(
        names=("--grammar-file",),
        group=Group.CONSTRAINT,
        value=contents("FNAME", gbnf),
        sets="generation.grammar",
        default="none",
        help="the same, read from a file",
    ),
    Flag(
        names=("-j", "--json-schema"),
        group=Group.CONSTRAINT,
        value=Value("SCHEMA", json_schema),
        sets="generation.grammar",
        default="none",
        help='keep answers to this JSON Schema, for example {"type": "object"}',
    ),
    Flag(
        names=("-jf", "--json-schema-file"),
        group=Group.CONSTRAINT,
        value=contents("FILE", json_schema),
        sets="generation.grammar",
        default="none",
        help="the same, read from a file",
    ),
)
