"""A compiled grammar as the engine's Guide: check the sampled token first, make a mask only after a refusal.

Where the constraint begins is a Gate's business: at once, when the thought has closed, or at a lazy trigger. A gate
runs inline in the engine thread, so it is as small as the machines it reads with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from llguidance import LLMatcher, LLTokenizer

from ferrox_gguf.errors import GenerationFailed


class Gate(Protocol):
    """Says where in the output a constraint begins.

    tail(token): the bytes of the output that would stand inside the constraint if `token` came next: None while the
    gate would stay shut, b"" when it would open exactly behind the token.  observe(token): it did come.
    """

    def tail(self, token: int) -> bytes | None: ...
    def observe(self, token: int) -> None: ...


class GrammarGuide:
    """One sequence's constraint.

    gate: None when it begins with the first token.  layout: white-space-only tokens let through between the gate's
    opening and the constraint's first token (the line breaks that models write after a closed thought).
    """

    def __init__(
        self, matcher: LLMatcher, tokenizer: LLTokenizer, gate: Gate | None = None, *, layout: int = 2
    ) -> None:
        self._matcher, self._tokenizer, self._gate = matcher, tokenizer, gate
        self._layout = layout if gate is not None else 0
        self._refused: set[int] = set()

    @property
    def finished(self) -> bool:
        """The grammar can take nothing more, so nothing but an end could be sampled."""
        return self._gate is None and self._matcher.is_stopped()

    def forced(self) -> Sequence[int]:
        return ()

    def allows(self, token: int) -> bool:
        if self._gate is not None:
            tail = self._gate.tail(token)
            if not tail or self._takes(tail):
                return True
            self._refused.add(token)
            return False
        if self._layout and self._is_layout(token):
            return True
        return bool(self._matcher.validate_tokens([token]) == 1)

    def mask(self) -> bytes | None:
        """While the gate is shut: all but the refused tokens, which would open it onto text that does not fit."""
        if self._gate is None:
            return bytes(self._matcher.compute_bitmask())
        words = bytearray(b"\xff" * ((self._tokenizer.vocab_size + 31) // 32 * 4))
        for token in self._refused:
            words[token // 8] &= ~(1 << token % 8) & 0xFF
        return bytes(words)

    def accept(self, token: int) -> None:
        """Raises GenerationFailed when the grammar had no way to go on (llguidance's limits, or a forced token)."""
        if self._gate is not None:
            self._open(token)
            return
        if self._layout and self._is_layout(token) and self._matcher.validate_tokens([token]) != 1:
            self._layout -= 1
            return
        self._layout = 0
        if not self._matcher.consume_token(token):
            # llguidance's own words end in the whole grammar; its first line is the reason.
            reason, _, _ = (self._matcher.get_error() or "no token fits").partition("\n")
            raise GenerationFailed(f"the constraint cannot go on: {reason}")

    def _open(self, token: int) -> None:
        assert self._gate is not None
        self._refused.clear()
        tail = self._gate.tail(token)
        self._gate.observe(token)
        if tail is None:
            return
        self._gate = None
        if tail:
            self._layout = 0
            self._matcher.consume_tokens(self._tokens(tail))

    def _takes(self, tail: bytes) -> bool:
        """Would the text behind the gate fit? A token that opens it and breaks the constraint is refused."""
        tokens = self._tokens(tail)
        return bool(self._matcher.validate_tokens(tokens) == len(tokens))

    def _tokens(self, tail: bytes) -> list[int]:
        stripped = tail.lstrip() if self._layout else tail
        return self._tokenizer.tokenize_bytes(stripped, parse_special=False) if stripped else []

    def _is_layout(self, token: int) -> bool:
        text = self._tokenizer.decode_bytes([token])
        return bool(text) and not text.strip(b" \t\r\n")
