"""Compiled grammars as the engine meets them: one token at a time, on a real vocabulary."""

from __future__ import annotations

import json
import random
import time

import pytest
from llguidance import LLParserLimits
from support.grammar_view import View

from ferrox_gguf.errors import GenerationFailed, InvalidField
from ferrox_gguf.grammar.compiler import GrammarCompiler
from ferrox_gguf.grammar.guide import Gate, GrammarGuide
from ferrox_gguf.grammar.source import source_of
from ferrox_gguf.json_types import Json
from ferrox_gguf.request import GrammarKind, GrammarSpec


def guide(view: View, kind: GrammarKind, source: str | Json, gate: Gate | None = None) -> GrammarGuide:
    text = source if isinstance(source, str) else json.dumps(source)
    return GrammarGuide(view.compiler.compile(source_of(GrammarSpec(kind, text))), view.tokenizer, gate)


def takes(view: View, steps: GrammarGuide, text: str) -> bool:
    """Whether the guide lets a model write `text`; every allowed token is accepted on the way."""
    for token in view.ids(text):
        if not steps.allows(token):
            return False
        steps.accept(token)
    return True


SCHEMA: Json = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}


def test_what_fits_the_schema_is_let_through_and_the_end_is_known(view: View) -> None:
    steps = guide(view, GrammarKind.JSON_SCHEMA, SCHEMA)
    assert takes(view, steps, '{"a": 12')
    assert not steps.finished
    assert takes(view, steps, "}")
    assert steps.finished


@pytest.mark.parametrize("text", ['{"b"', '{"a": "x', "[", '{"a": 1, '])
def test_the_first_token_that_does_not_fit_is_refused(view: View, text: str) -> None:
    assert not takes(view, guide(view, GrammarKind.JSON_SCHEMA, SCHEMA), text)


def test_the_mask_holds_exactly_the_tokens_that_are_allowed(view: View) -> None:
    steps = guide(view, GrammarKind.JSON_SCHEMA, SCHEMA)
    assert takes(view, steps, '{"a": 1')
    mask = steps.mask()
    assert mask is not None
    allowed = {token for token in range(view.vocab.n_tokens) if mask[token // 8] >> token % 8 & 1}
    assert allowed == {token for token in range(view.vocab.n_tokens) if steps.allows(token)}
    assert view.ids("}")[0] in allowed


def test_json_mode_does_not_run_on_in_white_space(view: View) -> None:
    steps = guide(view, GrammarKind.JSON_SCHEMA, {"type": "object"})
    assert takes(view, steps, "{")
    assert not takes(view, steps, "\n" * 100)


def test_a_gbnf_grammar_is_obeyed(view: View) -> None:
    steps = guide(view, GrammarKind.GBNF, 'root ::= "yes" | "no" [0-9]{2}')
    assert takes(view, steps, "no4")
    assert not steps.allows(view.ids("x")[0])
    assert takes(view, steps, "2")
    assert steps.finished


@pytest.mark.parametrize("grammar", ["root ::= (", "nonsense", "", 'root ::= "a', "root ::= missing", "root ::= root"])
def test_a_grammar_that_is_none_or_allows_nothing_is_refused_with_a_reason(view: View, grammar: str) -> None:
    with pytest.raises(InvalidField) as refused:
        guide(view, GrammarKind.GBNF, grammar)
    assert refused.value.field == "grammar"


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "((a{0,100}){0,100}){0,100}", "[ab]*a[ab]{60}", "(.*a){40}", "a{1,5000}b{1,5000}", "(a|b|ab)*c{1000}"],
)
def test_an_exploding_pattern_is_compiled_or_refused_in_two_seconds_and_never_hangs_a_token(
    view: View, pattern: str
) -> None:
    began = time.monotonic()
    try:
        steps = guide(view, GrammarKind.JSON_SCHEMA, {"type": "string", "pattern": pattern})
        takes(view, steps, '"' + "ab" * 400)
    except (InvalidField, GenerationFailed):
        pass
    # Far above what any of them needs; a hang would be minutes.
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"properties": {"a": {"items": {"multipleOf": 1e-30}}}}, "properties.a.items"),
        ({"$defs": {"b": {"patternProperties": {"a*": {}, "aa*": {}}}}, "$ref": "#/$defs/b"}, "$defs.b"),
        ({"properties": {"x": {"type": "string", "pattern": "("}}}, "properties.x"),
    ],
)
def test_what_llguidance_refuses_is_refused_with_its_path(view: View, schema: Json, path: str) -> None:
    with pytest.raises(InvalidField) as refused:
        guide(view, GrammarKind.JSON_SCHEMA, schema)
    assert refused.value.field == f"json_schema.{path}"


class AfterThought:
    """Opens behind the token `</think>`, or behind its letters."""

    def __init__(self, view: View) -> None:
        self._view, self._text = view, b""

    def stays(self) -> None:
        return None

    def pending(self) -> bytes:
        return b""

    def tail(self, token: int) -> bytes | None:
        text = self._text + self._view.vocab.piece(token)
        return text.partition(b"</think>")[2] if b"</think>" in text else None

    def observe(self, token: int) -> None:
        self._text += self._view.vocab.piece(token)


def test_a_gated_constraint_lets_the_thought_be_and_binds_the_answer(view: View) -> None:
    steps = guide(view, GrammarKind.JSON_SCHEMA, SCHEMA, AfterThought(view))
    assert takes(view, steps, "anything { goes ]")
    assert not steps.finished
    assert takes(view, steps, "</think>\n\n")
    assert not steps.allows(view.ids("x")[0])
    assert takes(view, steps, '{"a": 1}')
    assert steps.finished


def test_a_token_that_opens_the_gate_onto_text_that_does_not_fit_is_refused(view: View) -> None:
    steps = guide(view, GrammarKind.JSON_SCHEMA, {"type": "array"}, AfterThought(view))
    for token in view.ids("</", special=False):
        steps.accept(token)
    straddling = next(token for token in range(view.vocab.n_tokens) if view.vocab.piece(token) == b"think>{")
    assert not steps.allows(straddling)
    mask = steps.mask()
    assert mask is not None
    assert not mask[straddling // 8] >> straddling % 8 & 1
    fitting = guide(view, GrammarKind.JSON_SCHEMA, SCHEMA, AfterThought(view))
    for token in view.ids("</", special=False):
        fitting.accept(token)
    assert fitting.allows(straddling)
    fitting.accept(straddling)
    assert takes(view, fitting, '"a": 1}')


class AfterBlank(AfterThought):
    """Opens with the first text that is not white space, and gives the white space along."""

    def tail(self, token: int) -> bytes | None:
        text = self._text + self._view.vocab.piece(token)
        return text if text.strip() else None


def test_white_space_that_came_before_the_constraint_is_no_part_of_it(view: View) -> None:
    assert takes(view, guide(view, GrammarKind.GBNF, 'root ::= "yes"', AfterBlank(view)), "\n \nyes")
    assert not takes(view, guide(view, GrammarKind.GBNF, 'root ::= "yes"', AfterBlank(view)), "\n \nno")


def test_generation_does_not_end_inside_a_thought_before_what_was_promised(view: View) -> None:
    eos = view.vocab.eos
    assert eos is not None
    compiled = view.compiler.compile(source_of(GrammarSpec(GrammarKind.JSON_SCHEMA, json.dumps(SCHEMA))))
    steps = GrammarGuide(compiled, view.tokenizer, AfterThought(view), ends=frozenset({eos}))
    assert not steps.allows(eos)
    mask = steps.mask()
    assert mask is not None
    assert not mask[eos // 8] >> eos % 8 & 1
    assert takes(view, steps, 'hm</think>{"a": 1}')


def test_a_forced_token_that_breaks_the_constraint_ends_this_sequence_only(view: View) -> None:
    steps = guide(view, GrammarKind.JSON_SCHEMA, SCHEMA)
    with pytest.raises(GenerationFailed):
        steps.accept(view.ids("x")[0])
    assert takes(view, guide(view, GrammarKind.JSON_SCHEMA, SCHEMA), '{"a": 1}')


def test_one_compiled_grammar_serves_many_sequences_apart(view: View) -> None:
    first, second = (guide(view, GrammarKind.JSON_SCHEMA, SCHEMA) for _ in range(2))
    assert takes(view, first, '{"a": 1')
    assert takes(view, second, '{"a": 2}')
    assert not first.finished


def test_a_grammar_that_ran_into_a_limit_is_compiled_anew_for_the_next_sequence(view: View) -> None:
    compiler = GrammarCompiler(view.tokenizer, LLParserLimits(max_lexer_states=400))
    source = source_of(GrammarSpec(GrammarKind.JSON_SCHEMA, '{"type": "string", "pattern": "^[ab]*a[ab]{30}$"}'))

    def written(text: str) -> int:
        """Tokens that a model gets out before the constraint ends it; a mask is wanted at each."""
        steps = GrammarGuide(compiler.compile(source), view.tokenizer, spoiled=lambda: compiler.forget(source))
        for count, token in enumerate(view.ids(text)):
            steps.mask()
            try:
                steps.accept(token)
            except GenerationFailed:
                return count
        raise AssertionError("the pattern met no limit: this test says nothing")

    letters = "".join(random.Random(1).choices("ab", k=2000))
    first = written('"' + letters)
    assert first > 20
    assert written('"' + letters[::-1]) > first // 2
