"""Two constraints at once, of which the output keeps to one: a call of a tool, or an answer in the schema asked for.

Both are followed until the text has decided. Joined into one grammar they would share one lexer, in which a call's
first characters and an answer's could not both be read.
"""

from __future__ import annotations

from collections.abc import Sequence

from llguidance import LLMatcher


class Either:
    """As much of LLMatcher as a guide needs. What no longer fits is left behind."""

    def __init__(self, matchers: Sequence[LLMatcher]) -> None:
        assert matchers
        self._matchers = list(matchers)

    def deep_copy(self) -> Either:
        return Either([matcher.deep_copy() for matcher in self._matchers])

    def is_stopped(self) -> bool:
        return all(matcher.is_stopped() for matcher in self._matchers)

    def is_accepting(self) -> bool:
        return any(matcher.is_accepting() for matcher in self._matchers)

    def get_error(self) -> str:
        return str(self._matchers[0].get_error())

    def validate_tokens(self, tokens: list[int]) -> int:
        """How many of the tokens one of them takes."""
        return max(int(matcher.validate_tokens(tokens)) for matcher in self._matchers)

    def compute_bitmask(self) -> bytes:
        masks = [bytes(matcher.compute_bitmask()) for matcher in self._matchers]
        joined = 0
        for mask in masks:
            joined |= int.from_bytes(mask, "little")
        return joined.to_bytes(len(masks[0]), "little")

    def consume_token(self, token: int) -> bool:
        return self.consume_tokens([token])

    def consume_tokens(self, tokens: list[int]) -> bool:
        fitting = [matcher for matcher in self._matchers if matcher.validate_tokens(tokens) == len(tokens)]
        if not fitting:
            return False
        self._matchers = fitting
        return all(matcher.consume_tokens(tokens) for matcher in fitting)
