"""Random schemas, written by a random writer: what is finished is valid."""

from __future__ import annotations

import json
from random import Random

from jsonschema import Draft202012Validator
from support.grammar_view import View
from support.grammar_walk import random_output
from support.random_schemas import random_schema, with_definitions

from ferrox_gguf.grammar.source import source_of
from ferrox_gguf.request import GrammarKind, GrammarSpec

SCHEMAS = 150


def test_every_finished_output_validates_against_its_schema(view: View) -> None:
    finished = 0
    for seed in range(SCHEMAS):
        random = Random(seed)
        schema = with_definitions(random) if seed % 10 == 0 else random_schema(random)
        output = random_output(view, source_of(GrammarSpec(GrammarKind.JSON_SCHEMA, json.dumps(schema))), random)
        if output is None:
            continue
        finished += 1
        validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
        validator.validate(json.loads(output))
    assert finished >= 0.8 * SCHEMAS


def test_json_mode_ends_in_an_object(view: View) -> None:
    source = source_of(GrammarSpec(GrammarKind.JSON_SCHEMA, '{"type":"object"}'))
    outputs = [random_output(view, source, Random(seed)) for seed in range(40)]
    finished = [output for output in outputs if output is not None]
    assert len(finished) >= 0.8 * len(outputs)
    assert all(isinstance(json.loads(output), dict) for output in finished)
