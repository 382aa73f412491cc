"""A compiled grammar as the engine's Guide: check the sampled token first, make a mask only after a refusal.

Where the constraint begins is a Gate's business: at once, when the thought has closed, or at a lazy trigger. A gate
runs inline in the engine thread, so it is as small as the machines it reads with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from llguidance import LLMatcher, LLTokenizer

from ferrox_gguf.errors import GenerationFailed


class Gate(Protocol):
    """Says where in the output a constraint begins.

    tail(token): the bytes of the output that would stand inside the constraint if `token` came next: None while the
    gate would stay shut, b"" when it would open exactly behind the token.  observe(token): it did come.
    stays(): the tokens that would keep it shut where these are few (an opener may still begin, or go on), None where
    nearly all would.  pending(): the bytes that would stand inside before the next token's, if that opened it.
    """

    def stays(self) -> Sequence[int] | None: ...
    def pending(self) -> bytes: ...
    def tail(self, token: int) -> bytes | None: ...
    def observe(self, token: int) -> None: ...


class GrammarGuide:
    """One sequence's constraint.

    gate: None when it begins with the first token.  layout: white-space-only tokens let through between the gate's
    opening and the constraint's first token (the line breaks that models write after a closed thought).
    ends: tokens that end generation, and may not while the gate is shut: what was promised is still to come.
    spoiled: called when the grammar could not go on, whose other copies may not be able to either.
    """

    def __init__(
        self,
        matcher: LLMatcher,
        tokenizer: LLTokenizer,
        gate: Gate | None = None,
        *,
        layout: int = 2,
        ends: frozenset[int] = frozenset(),
        spoiled: Callable[[], None] = lambda: None,
    ) -> None:
        self._matcher, self._tokenizer, self._gate, self._ends = matcher, tokenizer, gate, ends
        self._layout = layout if gate is not None else 0
        self._refused: set[int] = set()
        self._spoiled = spoiled

    @property
    def finished(self) -> bool:
        """The grammar can take nothing more, so nothing but an end could be sampled."""
        return self._gate is None and self._matcher.is_stopped()

    def forced(self) -> Sequence[int]:
        return ()

    def allows(self, token: int) -> bool:
        if self._gate is not None:
            tail = self._gate.tail(token)
            if token not in self._ends and (not tail or self._takes(tail)):
                return True
            self._refused.add(token)
            return False
        if self._layout and self._is_layout(token):
            return True
        return bool(self._matcher.validate_tokens([token]) == 1)

    def mask(self) -> bytes | None:
        """While the gate is shut: what keeps it so, and what opens it onto text that fits.

        Where nearly every token keeps it shut, those that would open it wrongly are found as they are drawn.
        """
        if self._gate is None:
            return bytes(self._matcher.compute_bitmask())
        stays = self._gate.stays()
        if stays is None:
            words = bytearray(b"\xff" * self._mask_bytes)
        else:
            words = self._mask_behind(self._gate.pending())
            for token in stays:
                words[token // 8] |= 1 << token % 8
        for token in self._refused | self._ends:
            words[token // 8] &= ~(1 << token % 8) & 0xFF
        return bytes(words)

    def _mask_behind(self, pending: bytes) -> bytearray:
        """What may follow text that would stand inside the constraint."""
        matcher = self._matcher.deep_copy()
        tokens = self._tokens(pending)
        if tokens and not matcher.consume_tokens(tokens):
            return bytearray(self._mask_bytes)
        return bytearray(matcher.compute_bitmask())

    @property
    def _mask_bytes(self) -> int:
        return int((self._tokenizer.vocab_size + 31) // 32 * 4)

    def accept(self, token: int) -> None:
        """Raises GenerationFailed when the grammar had no way to go on (llguidance's limits, or a forced token)."""
        if self._gate is not None:
            self._open(token)
            return
        if self._layout and self._is_layout(token) and self._matcher.validate_tokens([token]) != 1:
            self._layout -= 1
            return
        self._layout = 0
        self._require(self._matcher.consume_token(token))

    def _require(self, taken: bool) -> None:
        if not taken:
            self._spoiled()
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
        tokens = self._tokens(tail)
        if tokens:
            self._layout = 0
            self._require(self._matcher.consume_tokens(tokens))

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
