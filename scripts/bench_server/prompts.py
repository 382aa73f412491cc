"""Texts of known length that no server has seen: words that are one token each, drawn by the name of the occasion.

The same occasion gives the same text, so both sides of a pair read the same.
"""

from __future__ import annotations

import random

WORDS = """
time people water river stone light morning winter garden window paper letter bridge market station engine forest
mountain island harbor village castle doctor teacher student farmer soldier sailor painter writer music silver copper
green yellow quiet narrow heavy simple early distant broken hidden ancient modern public private careful gentle begins
follows carries builds opens closes finds keeps turns watches answers remembers under above between behind before after
during because although while where every another several many little never always often again
""".split()


def words(occasion: str, count: int) -> str:
    """About `count` tokens (SmolLM2's vocabulary has each of the words, with its space, as one)."""
    drawn = random.Random(occasion)  # noqa: S311 - reproducible, not secret
    return " ".join(drawn.choice(WORDS) for _ in range(count))


def user(text: str) -> dict:
    return {"role": "user", "content": text}


def system(text: str) -> dict:
    return {"role": "system", "content": text}


def assistant(text: str) -> dict:
    return {"role": "assistant", "content": text}
