"""Compiling within limits, off everybody's way."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from llguidance import LLMatcher
from support.grammar_view import View

from ferrox_gguf.errors import InvalidField, Unavailable
from ferrox_gguf.grammar import compiler
from ferrox_gguf.grammar.compiler import THREADS, GrammarCompiler
from ferrox_gguf.grammar.source import Source, json_grammar

ANY = Source(json_grammar({"type": "integer"}, field="x"), "x")


class Slow(GrammarCompiler):
    """Takes as long as a test wants."""

    def __init__(self, view: View) -> None:
        super().__init__(view.tokenizer)
        self.go, self.compiled = threading.Event(), 0

    def _matcher(self, text: str) -> LLMatcher:
        self.compiled += 1
        self.go.wait(20)
        return super()._matcher(text)


@pytest.fixture
def slow(view: View, monkeypatch: pytest.MonkeyPatch) -> Slow:
    monkeypatch.setattr(compiler, "SECONDS", 0.3)
    return Slow(view)


def test_the_same_content_is_compiled_once_and_each_request_gets_its_own(slow: Slow) -> None:
    slow.go.set()
    first, second = slow.compile(ANY), slow.compile(Source(ANY.text, "another field"))
    assert slow.compiled == 1
    assert first.consume_tokens(slow.tokenizer.tokenize_str("1"))
    assert first.is_accepting()
    assert not second.is_accepting()


def test_a_grammar_that_takes_too_long_is_refused_in_time(slow: Slow) -> None:
    began = time.monotonic()
    with pytest.raises(InvalidField, match="takes longer than") as refused:
        slow.compile(ANY)
    assert refused.value.field == "x"
    assert time.monotonic() - began < 2
    slow.go.set()


def test_while_slow_ones_hold_all_threads_the_next_is_told_to_come_again(slow: Slow) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        held = [pool.submit(slow.compile, Source(f"{ANY.text}{' ' * i}", "x")) for i in range(THREADS)]
        while slow.compiled < THREADS:
            time.sleep(0.01)
        with pytest.raises(Unavailable):
            slow.compile(Source(ANY.text + "  " * 9, "x"))
        slow.go.set()
        assert all(isinstance(each.exception(), (InvalidField, type(None))) for each in held)


def test_what_was_refused_is_not_kept(view: View) -> None:
    bad = Source(LLMatcher.grammar_from_lark("start: missing"), "grammar")
    for _ in range(2):
        with pytest.raises(InvalidField):
            view.compiler.compile(bad)
    assert view.compiler.compile(ANY).is_accepting() is False


def test_few_grammars_are_kept_and_the_longest_unused_goes_first(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "KEPT", 2)
    kept = Slow(view)
    kept.go.set()
    sources = [Source(json_grammar({"const": i}, field="x"), "x") for i in range(3)]
    kept.compile(sources[0])
    kept.compile(sources[1])
    kept.compile(sources[0])
    kept.compile(sources[2])
    before = kept.compiled
    kept.compile(sources[0])
    assert kept.compiled == before
    kept.compile(sources[1])
    assert kept.compiled == before + 1
