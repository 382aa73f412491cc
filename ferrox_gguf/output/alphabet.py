"""Marker tokens as letters that no text can hold.

A reasoning marker that is one CONTROL or USER_DEFINED token of the vocabulary is recognised by its id only; the same
characters spelled out are text (wire formats, section 0, Markers). So such a token travels as one private letter, a
lone surrogate, which decoded UTF-8 never contains. Splitters look for markers written with these letters, by plain
text search; what goes out is spelled again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ferrox_gguf.posture.values import ReasoningFormat, ReasoningStyle

FIRST, LAST = 0xDF00, 0xDFFF
"""The private letters; the last sixteen belong to `channels/envelope.py`."""

LETTERS = f"{chr(FIRST)}-{chr(LAST)}"
"""All of them, for a character class of a regular expression."""

_PRIVATE = re.compile(f"[{LETTERS}]")
_ATOM = re.compile(r"<[^<>\s]+>|\[[^\[\]]+\]")
_HARMONY = ("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>", "<|return|>", "<|call|>")
_ATEM = ("<|start|>", "<|message|>", "<|eom|>", "<|eot|>", "<|end_of_text|>")


def marker_texts(reasoning: ReasoningFormat | None) -> tuple[str, ...]:
    """Every text that is a marker of the format, or a part of one, and may be a token of its own.

    The caller looks each up in its vocabulary and passes those that are CONTROL or USER_DEFINED tokens on, by id.
    """
    if reasoning is None:
        return ()
    if reasoning.style is ReasoningStyle.HARMONY:
        return _HARMONY
    if reasoning.style is ReasoningStyle.ATEM:
        return _ATEM
    markers = (
        reasoning.opener,
        reasoning.closer,
        reasoning.header,
        *(reasoning.wrapper or ()),
        *reasoning.ends_at,
        *reasoning.tail,
    )
    return tuple(dict.fromkeys(atom for marker in markers for atom in _ATOM.findall(marker)))


def without_private(text: str) -> str:
    """Text from outside, in which no character can pass for a marker token."""
    return text if text.isascii() else _PRIVATE.sub("\ufffd", text)


class Alphabet:
    """tokens: marker text → token id, for the markers that are tokens.

    letters: token id → the letter it travels as.
    """

    def __init__(self, tokens: Mapping[str, int]) -> None:
        texts = list(tokens)[:0xF0]
        letters = {text: chr(FIRST + i) for i, text in enumerate(texts)}
        self.letters: Mapping[int, str] = {tokens[text]: letter for text, letter in letters.items()}
        self._letters = letters
        self._texts = {letter: text for text, letter in letters.items()}
        self._any = re.compile("|".join(map(re.escape, sorted(texts, key=len, reverse=True))) or "(?!)")

    def write(self, marker: str) -> str:
        """A marker as it arrives in the stream."""
        return self._any.sub(lambda found: self._letters[found.group()], marker)

    def spell(self, text: str) -> str:
        """Text of the stream as the model's own characters."""
        if not self._texts or text.isascii():
            return text
        return _PRIVATE.sub(lambda found: self._texts.get(found.group(), ""), text)
