"""Token ids → pieces of whole characters.

A character may be spread over several tokens, and a stream must not show half of one: bytes that may still become a
character are held. Bytes that cannot are replaced by U+FFFD, as in llama-server's answers.
"""

from __future__ import annotations

import codecs
import contextlib
from collections.abc import Iterable
from typing import Protocol

from ferrox_gguf.output.pieces import Piece, TokenKind


class Vocabulary(Protocol):
    """What is asked of a vocabulary. piece: a token's bytes; without `special`, none for control and unknown tokens."""

    def piece(self, token: int, *, special: bool = True) -> bytes: ...
    def is_user_defined(self, token: int) -> bool: ...


class PieceTable:
    """Every token's bytes and kind, read once. One for a model, shared by all its sequences (on one thread)."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self.whole: dict[int, Piece] = {}
        self._parts: dict[int, tuple[bytes, TokenKind]] = {}

    def add(self, token: int) -> tuple[bytes, TokenKind]:
        """Look a token up; `whole` has it from now on if its bytes are whole characters. ValueError: no such id."""
        known = self._parts.get(token)
        if known is not None:
            return known
        data = self._vocabulary.piece(token)
        kind = TokenKind.NORMAL
        if data and not self._vocabulary.piece(token, special=False):
            kind = TokenKind.CONTROL
        elif self._vocabulary.is_user_defined(token):
            kind = TokenKind.USER_DEFINED
        with contextlib.suppress(UnicodeDecodeError):
            self.whole[token] = Piece(data.decode("utf-8"), kind, token)
        self._parts[token] = data, kind
        return data, kind


class Detokenizer:
    """One sequence's text. push() gives each token's piece at once, perhaps without text; flush() ends the text."""

    def __init__(self, table: PieceTable) -> None:
        self._table, self._whole = table, table.whole
        self._held = b""

    def push(self, tokens: Iterable[int]) -> list[Piece]:
        out: list[Piece] = []
        for token in tokens:
            whole = self._whole.get(token)
            if whole is not None and not self._held:
                out.append(whole)
            else:
                self._append(token, out)
        return out

    def flush(self) -> list[Piece]:
        """What was held can no longer become a character."""
        held, self._held = self._held, b""
        return [Piece(held.decode("utf-8", errors="replace"), TokenKind.NORMAL, tokens=0)] if held else []

    def _append(self, token: int, out: list[Piece]) -> None:
        data, kind = self._table.add(token)
        whole = self._whole.get(token)
        if whole is not None:
            # Whole characters never complete an earlier one.
            out += self.flush() if data else []
            out.append(whole)
            return
        data = self._held + data
        text, read = codecs.utf_8_decode(data, "replace", False)
        self._held = data[read:]
        out.append(Piece(text, kind, token))
