"""Triggers of lazy grammars."""

from __future__ import annotations

import pytest

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.grammar.lazy import TriggerGate
from ferrox_gguf.request import GrammarTrigger


def tails(gate: TriggerGate, pieces: list[bytes], table: list[bytes]) -> list[bytes | None]:
    seen: list[bytes | None] = []
    for piece in pieces:
        token = table.index(piece)
        seen.append(gate.tail(token))
        gate.observe(token)
    return seen


def gate_for(pieces: list[bytes], *triggers: GrammarTrigger) -> TriggerGate:
    return TriggerGate(triggers, pieces.__getitem__)


def test_a_word_cut_over_tokens_opens_at_its_first_byte() -> None:
    pieces = [b"so <to", b"ol", b"> {"]
    assert tails(gate_for(pieces, GrammarTrigger("word", "<tool>")), pieces, pieces) == [None, None, b"<tool> {"]


def test_a_pattern_opens_at_its_first_group() -> None:
    pieces = [b"call: ", b"f(", b"x"]
    gate = gate_for(pieces, GrammarTrigger("pattern", r"call:\s*(\w+\()"))
    assert tails(gate, pieces, pieces)[:2] == [None, b"f("]


def test_a_full_pattern_must_match_the_whole_output() -> None:
    pieces = [b"x", b"ab"]
    assert tails(gate_for(pieces, GrammarTrigger("pattern_full", "ab")), pieces, pieces) == [None, None]
    assert tails(gate_for(pieces, GrammarTrigger("pattern_full", "x(ab)")), pieces, pieces) == [None, b"ab"]


def test_a_token_trigger_opens_at_that_token() -> None:
    pieces = [b"a", b"<|call|>"]
    gate = gate_for(pieces, GrammarTrigger("token", "<|call|>", token=1))
    assert tails(gate, pieces, pieces) == [None, b"<|call|>"]


def test_a_pattern_that_cannot_be_matched_in_linear_time_is_refused() -> None:
    with pytest.raises(InvalidField, match="grammar_triggers"):
        gate_for([], GrammarTrigger("pattern", r"(a)\1"))
    with pytest.raises(InvalidField, match="grammar_triggers"):
        gate_for([], GrammarTrigger("pattern", r"(?=a)"))


def test_an_exploding_pattern_reads_a_long_output_in_no_time() -> None:
    gate = gate_for([b"a" * 20_000], GrammarTrigger("pattern", "(a+)+$b"))
    assert gate.tail(0) is None
