"""Sources become matchers: compiled off the engine thread, within limits, and kept by content."""

from __future__ import annotations

import threading
from collections import OrderedDict

from llguidance import LLMatcher, LLParserLimits, LLTokenizer

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.grammar.source import Source

KEPT = 64
"""Compiled grammars kept. An agent's tools change rarely; each compiled one is a few MiB at most."""


class GrammarCompiler:
    """Compiles and keeps. Thread-safe; `compile` blocks (up to about a second): never call it on the event loop.

    tokenizer: llguidance's view of the vocabulary, which knows every end-of-generation id.
    """

    def __init__(self, tokenizer: LLTokenizer) -> None:
        self._tokenizer = tokenizer
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, LLMatcher] = OrderedDict()

    @property
    def tokenizer(self) -> LLTokenizer:
        return self._tokenizer

    def compile(self, source: Source) -> LLMatcher:
        """A fresh matcher at its start. Raises InvalidField with llguidance's reason."""
        with self._lock:
            kept = self._kept.get(source.text)
            if kept is not None:
                self._kept.move_to_end(source.text)
                return kept.deep_copy()
        matcher = LLMatcher(self._tokenizer, source.text, log_level=0, limits=_limits())
        if matcher.is_error():
            raise InvalidField(source.field, _first_line(matcher.get_error()))
        matcher.compute_bitmask()  # the first mask builds the lexer: an explosion shows here, not in the engine
        if matcher.is_error():
            raise InvalidField(source.field, _first_line(matcher.get_error()))
        with self._lock:
            self._kept[source.text] = matcher
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return matcher.deep_copy()


def _limits() -> LLParserLimits:
    """llguidance's own limits, with the ones that bound time lowered (fuel is counted in its internal steps)."""
    return LLParserLimits(
        initial_lexer_fuel=2_000_000,
        step_lexer_fuel=200_000,
        step_max_items=50_000,
        max_items_in_row=2_000,
        max_lexer_states=250_000,
        max_grammar_size=500_000,
    )


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:500] if lines else "the grammar could not be compiled"
