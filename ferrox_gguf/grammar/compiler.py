"""Sources become matchers: compiled off the engine thread, within limits, and kept by content."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as FutureTimeout

from llguidance import LLMatcher, LLParserLimits, LLTokenizer

from ferrox_gguf.errors import InvalidField, Unavailable
from ferrox_gguf.grammar.locate import locate
from ferrox_gguf.grammar.source import Source, json_grammar
from ferrox_gguf.json_types import JsonObject

KEPT = 64
"""Compiled grammars kept. An agent's tools change rarely; each compiled one is a few MiB at most."""

SECONDS = 1.5
"""A grammar that needs longer is refused. Its thread goes on until llguidance's own limits end it."""

THREADS = 2

STACK = 256 << 20
"""Bytes of stack of each (reserved, not used): llguidance follows a schema's references on its stack, and a thousand of
them in a row would end the process on a usual one. What `schema.py` and `gbnf.py` let through fits."""


class GrammarCompiler:
    """Compiles and keeps. Thread-safe; `compile` blocks (SECONDS at most): never call it on the event loop.

    tokenizer: llguidance's view of the vocabulary, which knows every end-of-generation id.  limits: of one grammar.
    """

    def __init__(self, tokenizer: LLTokenizer, limits: LLParserLimits | None = None) -> None:
        self._tokenizer = tokenizer
        self._limits = limits or _limits()
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, LLMatcher] = OrderedDict()
        self._threads = _deep_threads()

    @property
    def tokenizer(self) -> LLTokenizer:
        return self._tokenizer

    def compile(self, source: Source) -> LLMatcher:
        """A fresh matcher at its start.

        Raises InvalidField with llguidance's reason (and the path, if it is a part of a schema), Unavailable when all
        threads are held by grammars that take long.
        """
        with self._lock:
            kept = self._kept.get(source.text)
            if kept is not None:
                self._kept.move_to_end(source.text)
                return kept.deep_copy()
        matcher = self._within_time(source)
        with self._lock:
            self._kept[source.text] = matcher
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return matcher.deep_copy()

    def forget(self, source: Source) -> None:
        """Compile it anew the next time: copies share one lexer, and one of them has run it into a limit."""
        with self._lock:
            self._kept.pop(source.text, None)

    def _within_time(self, source: Source) -> LLMatcher:
        work = self._threads.submit(self._compiled, source)
        try:
            return work.result(SECONDS)
        except FutureTimeout:
            if work.cancel():
                raise Unavailable("other grammars are being compiled; try again") from None
            raise InvalidField(source.field, f"takes longer than {SECONDS} seconds to compile") from None

    def _compiled(self, source: Source) -> LLMatcher:
        matcher = self._matcher(source.text)
        if not matcher.is_error():
            return matcher
        reason = _reason(matcher.get_error())
        for field, schema in source.schemas:
            if self._refuses(schema):
                path = locate(schema, self._refuses)
                raise InvalidField(".".join((field, *path)), reason)
        raise InvalidField(source.field, reason)

    def _matcher(self, text: str) -> LLMatcher:
        matcher = LLMatcher(self._tokenizer, text, log_level=0, limits=self._limits)
        if not matcher.is_error():
            matcher.compute_bitmask()  # the first mask builds the lexer: an explosion shows here, not in the engine
        return matcher

    def _refuses(self, schema: JsonObject) -> bool:
        try:
            return bool(self._matcher(json_grammar(dict(schema), field="")).is_error())
        except InvalidField:
            return False


def _deep_threads() -> ThreadPoolExecutor:
    """All threads at once, while the size of new stacks is what it must be."""
    threads = ThreadPoolExecutor(THREADS, thread_name_prefix="grammar")
    usual = threading.stack_size(STACK)
    try:
        started = threading.Barrier(THREADS)
        wait([threads.submit(started.wait) for _ in range(THREADS)])
    finally:
        threading.stack_size(usual)
    return threads


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


def _reason(text: str) -> str:
    """llguidance's first line, without its place in a grammar that the caller never saw."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = lines[0] if lines else "the grammar could not be compiled"
    return first.rpartition("failed to compile JSON schema: ")[2][:500]
