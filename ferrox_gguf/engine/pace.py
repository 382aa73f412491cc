"""How many prompt tokens a step may read, so that running answers keep their rhythm. Learned from measured steps.

The model is linear: a step costs what its decoding rows cost (without any, one pass over the weights: what the smallest
decoding step costs), plus so much a prompt token. Both are moving averages, since a longer context and a busier machine
change them while the server runs. Without the fixed part, a slow machine's small steps would make every token look
dear, and so the next step smaller still.
"""

from __future__ import annotations

_WEIGHT = 0.2
_LEAST = 8
"""Prompt tokens read even when the answers alone fill the budget: a prompt must arrive some day."""
_FIRST_GUESS = 32
"""Prompt tokens of the first step of all: on a slow machine a whole micro-batch would take many seconds."""
ALONE_MS = 500.0
"""A step with nothing but prompts may take this long: so soon are a cancel and a signal heard."""


class Pace:
    """budget_ms: what a step should take while any answer is being written."""

    def __init__(self, budget_ms: float, n_ubatch: int) -> None:
        self.budget_ms = budget_ms
        self._n_ubatch = n_ubatch
        self._decode_ms: dict[int, float] = {}
        self._prompt_ms = 0.0

    def observe(self, decoding: int, prompt_tokens: int, elapsed_ms: float) -> None:
        """A step with that many decoding rows and prompt tokens took that long."""
        if prompt_tokens == 0:
            before = self._decode_ms.get(decoding)
            self._decode_ms[decoding] = elapsed_ms if before is None else _blend(before, elapsed_ms)
        elif prompt_tokens >= _LEAST:
            # Noise may make the rest negative; a hundredth of the step is the least that tokens can have cost.
            rest = max(elapsed_ms - self._decode_cost(decoding), 0.01 * elapsed_ms)
            each = rest / prompt_tokens
            self._prompt_ms = each if not self._prompt_ms else _blend(self._prompt_ms, each)

    def allowance(self, decoding: int) -> int:
        """Prompt tokens for the next step beside that many decoding rows."""
        if not self._prompt_ms:
            return min(_FIRST_GUESS, self._n_ubatch)
        fixed = self._decode_cost(decoding)
        # Where one pass alone takes longer than a step should, tokens worth another pass are read with it. Beside
        # answers that fill the budget, a prompt still gets half of it, or many answers would keep each newcomer out.
        left = max(self.budget_ms - fixed, self.budget_ms / 2) if decoding else max(ALONE_MS - fixed, fixed)
        return max(_LEAST, min(self._n_ubatch, int(left / self._prompt_ms)))

    def prompt_ms(self, tokens: int) -> float:
        """What reading that many tokens is expected to take; 0.0 while nothing is known."""
        return self._prompt_ms * tokens

    def _decode_cost(self, decoding: int) -> float:
        """The measured cost of that many rows, or that of the nearest number measured; 0.0 while nothing is known."""
        if not self._decode_ms:
            return 0.0
        found = self._decode_ms.get(decoding)
        if found is None:
            nearest = min(self._decode_ms, key=lambda rows: abs(rows - decoding))
            found = self._decode_ms[nearest]
        return found


def _blend(before: float, now: float) -> float:
    return before + _WEIGHT * (now - before)
