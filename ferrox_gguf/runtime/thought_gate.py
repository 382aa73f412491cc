"""Where a constraint begins when the model may think first: behind the thought, or with the first text that is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from ferrox_gguf.output.alphabet import Alphabet
from ferrox_gguf.posture.values import BlockState, ReasoningFormat, ReasoningStyle

WHITE = " \t\r\n"
BLANKS = 16
"""White space before anything else that may still be the beginning of a thought; with more, the answer has begun."""


class ThoughtGate:
    """A Gate. Bytes are read as one letter each, marker tokens as private letters, so that markers are found by text.

    state: how the prompt left the block; CLOSED needs no gate.  piece: bytes of a token.
    tokenize: text to ids, for the parts of an opener that are no token.
    """

    def __init__(
        self,
        reasoning: ReasoningFormat,
        state: BlockState,
        marker_tokens: Mapping[str, int],
        piece: Callable[[int], bytes],
        tokenize: Callable[[str], Sequence[int]] = lambda text: (),
    ) -> None:
        alphabet = Alphabet(marker_tokens)
        self._tokenize = tokenize
        self._letters, self._piece = alphabet.letters, piece
        self._texts = {alphabet.letters[token]: text for text, token in marker_tokens.items()}
        self._opener = as_letters(alphabet.write(opener_of(reasoning)))
        self._end = re.compile(end_pattern(reasoning, alphabet))
        self._thinking = state is BlockState.OPEN
        self._text = ""

    def stays(self) -> Sequence[int] | None:
        """None inside a thought; else the token with which its opener begins, or goes on."""
        if self._thinking:
            return None
        rest = self._opener[len(self._text.lstrip(WHITE)) :]
        for token, letter in self._letters.items():
            if rest.startswith(letter):
                return (token,)
        plain = rest
        for letter in self._letters.values():
            plain = plain.partition(letter)[0]
        return self._tokenize(plain.encode("latin-1").decode(errors="ignore"))[:1] if plain else ()

    def pending(self) -> bytes:
        return b"" if self._thinking else self._as_bytes(self._text)

    def tail(self, token: int) -> bytes | None:
        _, inside = self._judge(self._text + self._letter(token))
        return None if inside is None else self._as_bytes(inside)

    def observe(self, token: int) -> None:
        self._text += self._letter(token)
        self._thinking, _ = self._judge(self._text)

    def _judge(self, text: str) -> tuple[bool, str | None]:
        """Is the thought open, and the text that stands behind it once it is not."""
        thinking = self._thinking
        if not thinking:
            begun = text.lstrip(WHITE)
            if not begun and len(text) > BLANKS:
                return False, text
            if self._opener.startswith(begun):
                # Nothing yet, or a part of the opener (or all of it).
                return begun == self._opener, None
            if not begun.startswith(self._opener):
                return False, text
        end = self._end.search(text)
        return (True, None) if end is None else (False, text[end.end() :])

    def _letter(self, token: int) -> str:
        return self._letters.get(token) or self._piece(token).decode("latin-1")

    def _as_bytes(self, text: str) -> bytes:
        return "".join(as_letters(self._texts.get(letter, "")) or letter for letter in text).encode("latin-1", "ignore")


def as_letters(text: str) -> str:
    """UTF-8 bytes as one letter each; private letters stay."""
    return "".join(c if "\udf00" <= c <= "\udfff" else c.encode().decode("latin-1") for c in text)


def opener_of(reasoning: ReasoningFormat) -> str:
    """Harmony opens every message with a channel, the answer's too; only the answer's ends the wait."""
    return "<|channel|>" if reasoning.style is ReasoningStyle.HARMONY else reasoning.opener.strip()


def end_pattern(reasoning: ReasoningFormat, alphabet: Alphabet) -> str:
    if reasoning.style is ReasoningStyle.HARMONY:
        channel, message = (re.escape(as_letters(alphabet.write(text))) for text in ("<|channel|>", "<|message|>"))
        return f"{channel}final(?:(?!{message}).)*{message}"
    return re.escape(as_letters(alphabet.write(reasoning.closer.strip())))
