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
EFFICIENT = 64
"""Prompt tokens from which on llama.cpp's attention works in tiles; fewer cost a fifth more each, twice as much late in
a long prompt. So smaller pieces would hold the answers beside them up for longer, only more smoothly.
"""
_STRETCH = 12
"""Steps may take so many times their budget for that; on a machine where they would take longer, pieces are small."""
_TOGETHER = 2
"""Budgets that several short prompts may take together: answers that begin together are computed together."""
_FIRST_GUESS = 32
"""Prompt tokens of the first step of all: on a slow machine a whole micro-batch would take many seconds."""
ALONE_MS = 500.0
"""A step with nothing but prompts may take this long: so soon are a cancel and a signal heard."""
_REST = 2.5
"""So many times as long may the last of them take, with what would be left of one prompt or of several."""
_PATIENCE = 0.02
"""Of the time that reading takes, what a request may wait for others that come with it."""
_MOST_PATIENCE_MS = 5.0


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

    def allowance(self, decoding: int, oldest: int, everything: int = 0) -> int:
        """Prompt tokens for the next step beside that many decoding rows.

        oldest: what the oldest prompt still wants.  everything: what all prompts still want.
        Beside answers, a step is stretched far beyond its budget for one prompt, or for several that end in it; of
        longer ones each would wait for all of them. When nobody answers, the last of several prompts are not left
        behind to be read beside the others' answers.
        """
        if not self._prompt_ms:
            return min(_FIRST_GUESS, self._n_ubatch)
        fixed = self._decode_cost(decoding)
        most_ms = _STRETCH * self.budget_ms
        stretched = self._stretched(EFFICIENT, oldest, most_ms)
        if decoding:
            # Answers may fill the budget; prompts still get half of it, or many answers would keep newcomers out.
            left = max(self.budget_ms - fixed, self.budget_ms / 2)
            together = _TOGETHER * self.budget_ms
        else:
            # Where one pass alone takes longer than a step should, tokens worth another pass are read with it.
            left = max(self.budget_ms - fixed, fixed)
            together = ALONE_MS
            longest = int(max(ALONE_MS - fixed, fixed) / self._prompt_ms)
            # Whole tiles: a row more costs another tile.
            piece = longest - longest % EFFICIENT if longest >= EFFICIENT else longest
            stretched = max(stretched, self._stretched(piece, oldest, _REST * ALONE_MS))
            if everything > oldest and self.prompt_ms(everything) <= _REST * ALONE_MS:
                return max(_LEAST, min(self._n_ubatch, everything))
        few = min(EFFICIENT, int(together / self._prompt_ms))
        if everything <= EFFICIENT and self.prompt_ms(everything) <= most_ms:
            few = max(few, everything)
        tokens = max(int(left / self._prompt_ms), few, min(oldest, stretched))
        return max(_LEAST, min(self._n_ubatch, tokens))

    def _stretched(self, piece: int, oldest: int, most_ms: float) -> int:
        """The piece of the oldest prompt that a step is stretched for; 0 where that would take longer than most_ms.

        Less than a piece is never left behind, if the last two or the last one can be larger: without tiles of its own
        it would cost more a token, and another pass.
        """
        if piece < oldest < 3 * piece:
            larger = oldest if oldest < 2 * piece else (oldest + 1) // 2
            if self.prompt_ms(larger) <= most_ms:
                return larger
        return piece if self.prompt_ms(piece) <= most_ms else 0

    def together(self) -> int:
        """Tokens of short prompts that are read in one go where that fills tiles; 0 while nothing is known."""
        if not self._prompt_ms:
            return 0
        most, usual = _STRETCH * self.budget_ms, _TOGETHER * self.budget_ms
        return int(min(most, max(usual, self.prompt_ms(2 * EFFICIENT))) / self._prompt_ms)

    def patience_ms(self, tokens: int) -> float:
        """How long an idle engine waits, when so many tokens came, for requests of the same moment.

        Clients that begin together are some milliseconds apart; the first read alone would keep all others waiting, who
        then would be read beside its answer. All but a piece may be in a slot already, so that no more is counted.
        """
        return min(_MOST_PATIENCE_MS, _PATIENCE * self.prompt_ms(min(EFFICIENT, tokens)))

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
