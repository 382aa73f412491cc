"""Writes what a constraint allows: a model without weights, which draws from the mask token by token."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from random import Random

import numpy as np
from llguidance import LLMatcher
from support.gguf_vocab import byte_tokens
from support.grammar_view import View

from ferrox_gguf.grammar.source import Source

_CLOSERS = b'"}],:'
"""What a model that wants to come to an end writes, where it may."""


def random_output(
    view: View, source: Source, random: Random, *, limit: int = 1500, closers: Sequence[str] = ()
) -> str | None:
    """A finished output, or None when it had no end after `limit` tokens. closers: markup that ends a value, of several
    tokens perhaps, written as far as it may be."""
    matcher = view.compiler.compile(source)
    single = {view.ids(chr(byte))[0] for byte in _CLOSERS}
    markup = [view.ids(closer) for closer in closers]
    ends = {view.vocab.eos}
    written: list[int] = []
    while len(written) < limit:
        assert not matcher.is_error(), matcher.get_error()
        if matcher.is_stopped():
            break
        if markup and random.random() < 0.35:
            whole = random.random() < 0.7
            wishes = random.sample(markup, len(markup))
            written += next(filter(None, (_write(matcher, wish, whole=whole) for wish in wishes)), [])
            continue
        bits = np.unpackbits(np.frombuffer(bytes(matcher.compute_bitmask()), np.uint8), bitorder="little")
        allowed = [int(token) for token in np.flatnonzero(bits) if token < view.vocab.n_tokens]
        assert not matcher.is_error(), matcher.get_error()
        assert allowed, "the mask is empty before the end"
        if ends & set(allowed) and (len(allowed) == 1 or random.random() < 0.5):
            break
        choices = [token for token in allowed if token not in ends]
        preferred = [token for token in choices if token in single]
        token = random.choice(preferred if preferred and random.random() < 0.4 else choices)
        assert matcher.consume_token(token), matcher.get_error()
        written.append(token)
    else:
        return None
    return b"".join(view.vocab.piece(token) for token in written).decode()


def _write(matcher: LLMatcher, wish: Sequence[int], *, whole: bool) -> list[int]:
    """Write a wish, as far as it may be, or whole or not at all; what was written. Token by token, as a model does."""
    taken = list(takewhile(lambda token: matcher.validate_tokens([token]) and matcher.consume_token(token), wish))
    if whole and 0 < len(taken) < len(wish):
        matcher.rollback(len(taken))
        return []
    return taken


def accepts(view: View, source: Source, text: str) -> bool:
    """Whether a model may write exactly this output, its markers as the vocabulary's own tokens."""
    matcher = view.compiler.compile(source)
    tokens = _spelled(view, text)
    if matcher.validate_tokens(tokens) != len(tokens):
        return False
    assert matcher.consume_tokens(tokens)
    return bool(matcher.is_accepting())


def _spelled(view: View, text: str) -> list[int]:
    """Markers by id, all else byte by byte: SentencePiece's own sign for a space is part of DeepSeek's markers."""
    tokens: list[int] = []
    for part in re.split(r"(\]<\]minimax\[>\[|<[^<>\s]+>|\[[A-Z_]+\])", text):
        marker = view.vocab.token_of(part) if part else None
        tokens += byte_tokens(part) if marker is None else [marker]
    return tokens
