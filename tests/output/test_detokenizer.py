"""Tokens to text: whole characters only, whatever bytes the tokens have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrox_gguf.output.detokenizer import Detokenizer, PieceTable
from ferrox_gguf.output.pieces import Piece, TokenKind


class Vocabulary:
    """Tokens by their bytes; those in `control` are hidden unless special ones are asked for."""

    def __init__(self, *tokens: bytes, control: tuple[int, ...] = (), user_defined: tuple[int, ...] = ()) -> None:
        self._tokens, self._control, self._user_defined = tokens, control, user_defined
        self.looked_up: list[int] = []

    def piece(self, token: int, *, special: bool = True) -> bytes:
        if not 0 <= token < len(self._tokens):
            raise ValueError(token)
        self.looked_up.append(token)
        return b"" if token in self._control and not special else self._tokens[token]

    def is_user_defined(self, token: int) -> bool:
        return token in self._user_defined


def texts(*tokens: bytes) -> list[str]:
    """The text of each token's pieces, then that of the flush."""
    detokenizer = Detokenizer(PieceTable(Vocabulary(*tokens)))
    out = ["".join(piece.text for piece in detokenizer.push([i])) for i in range(len(tokens))]
    return [*out, "".join(piece.text for piece in detokenizer.flush())]


def test_a_character_spread_over_tokens_comes_with_its_last_byte():
    crab = "🦀".encode()
    assert texts(b"a", crab[:1], crab[1:3], crab[3:] + b"b") == ["a", "", "", "🦀b", ""]


def test_bytes_that_cannot_become_a_character_are_replaced():
    assert texts(b"\xf0\x9f", b"a") == ["", "\ufffda", ""]
    assert texts(b"a\xff", b"b") == ["a\ufffd", "b", ""]
    assert texts(b"\xf0\x9f\xa6") == ["", "\ufffd"]


def test_each_token_has_a_piece_of_its_kind_and_id():
    vocabulary = Vocabulary(b"a", b"<|end|>", b"<think>", "é".encode()[:1], control=(1,), user_defined=(2,))
    detokenizer = Detokenizer(PieceTable(vocabulary))
    assert detokenizer.push([0, 1, 2, 3]) == [
        Piece("a", TokenKind.NORMAL, 0),
        Piece("<|end|>", TokenKind.CONTROL, 1),
        Piece("<think>", TokenKind.USER_DEFINED, 2),
        Piece("", TokenKind.NORMAL, 3),
    ]
    assert detokenizer.flush() == [Piece("\ufffd", TokenKind.NORMAL, tokens=0)]
    assert detokenizer.flush() == []


def test_half_a_character_before_a_control_token_is_no_part_of_its_text():
    detokenizer = Detokenizer(PieceTable(Vocabulary(b"\xf0\x9f", b"<|end|>", control=(1,))))
    assert detokenizer.push([0, 1]) == [
        Piece("", TokenKind.NORMAL, 0),
        Piece("\ufffd", TokenKind.NORMAL, tokens=0),
        Piece("<|end|>", TokenKind.CONTROL, 1),
    ]


def test_the_vocabulary_is_asked_once_for_each_token():
    vocabulary = Vocabulary(b"a", b"\xff")
    table = PieceTable(vocabulary)
    for _ in range(3):
        Detokenizer(table).push([0, 1, 0, 1])
    assert vocabulary.looked_up.count(0) <= 2
    assert vocabulary.looked_up.count(1) <= 2


def test_an_id_out_of_range_is_the_callers_mistake():
    with pytest.raises(ValueError, match="7"):
        Detokenizer(PieceTable(Vocabulary(b"a"))).push([7])


@given(st.lists(st.binary(max_size=5), max_size=8))
def test_the_joined_text_is_that_of_the_joined_bytes(tokens):
    shown = texts(*tokens)
    assert "".join(shown) == b"".join(tokens).decode("utf-8", errors="replace")
    assert len(shown) == len(tokens) + 1


@given(st.text(max_size=20), st.data())
def test_no_prefix_of_a_stream_shows_half_a_character(text, data):
    encoded = text.encode("utf-8", errors="replace")
    cuts = sorted(data.draw(st.sets(st.integers(0, len(encoded)))))
    starts, ends = [0, *cuts], [*cuts, len(encoded)]
    tokens = [encoded[start:end] for start, end in zip(starts, ends, strict=True)]
    expected = encoded.decode()
    shown = ""
    for piece in texts(*tokens):
        shown += piece
        assert expected.startswith(shown)
    assert shown == expected
