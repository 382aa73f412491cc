"""The vocabulary of a loaded model: text to ids, ids to bytes, and what each id is.

Reading is safe from any thread. Every id is checked before llama.cpp sees it: one out of range ends the process there.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, IntFlag
from functools import cached_property

import llama_cpp as ll

from ferrox_gguf.llama.model import Model

_MAX_TEXT = 2**31 - 1
"""llama_tokenize takes its length as a signed 32-bit number."""
_USUAL_PIECE = 64
"""Bytes that a token's text is given room for; longer ones are asked for twice."""


class VocabType(Enum):
    """How text becomes ids (llama_vocab_type)."""

    NONE = 0
    SPM = 1
    BPE = 2
    WPM = 3
    UGM = 4
    RWKV = 5
    PLAMO2 = 6
    TEST = 7


class TokenAttribute(IntFlag):
    """What a token is (llama_token_attr)."""

    UNKNOWN = 1
    UNUSED = 2
    NORMAL = 4
    CONTROL = 8
    USER_DEFINED = 16
    BYTE = 32
    NORMALIZED = 64
    LSTRIP = 128
    RSTRIP = 256
    SINGLE_WORD = 512


class Vocab:
    """Ids 0 … n_tokens - 1. Ids that a model does not have (no BOS, no fill-in-the-middle) are None."""

    def __init__(self, model: Model) -> None:
        pointer = ll.llama_model_get_vocab(model.pointer)
        if not pointer:
            raise ValueError("the model has no vocabulary")
        self.pointer = int(pointer)
        self.n_tokens = int(ll.llama_vocab_n_tokens(pointer))
        self.type = VocabType(int(ll.llama_vocab_type(pointer)))
        self.bos = _id(ll.llama_vocab_bos(pointer))
        self.eos = _id(ll.llama_vocab_eos(pointer))
        self.eot = _id(ll.llama_vocab_eot(pointer))
        self.sep = _id(ll.llama_vocab_sep(pointer))
        self.newline = _id(ll.llama_vocab_nl(pointer))
        self.pad = _id(ll.llama_vocab_pad(pointer))
        self.fim_prefix = _id(ll.llama_vocab_fim_pre(pointer))
        self.fim_suffix = _id(ll.llama_vocab_fim_suf(pointer))
        self.fim_middle = _id(ll.llama_vocab_fim_mid(pointer))
        self.fim_pad = _id(ll.llama_vocab_fim_pad(pointer))
        self.fim_repository = _id(ll.llama_vocab_fim_rep(pointer))
        self.fim_separator = _id(ll.llama_vocab_fim_sep(pointer))
        self.adds_bos = bool(ll.llama_vocab_get_add_bos(pointer))
        self.adds_eos = bool(ll.llama_vocab_get_add_eos(pointer))
        self.adds_sep = bool(ll.llama_vocab_get_add_sep(pointer))
        self._pieces: dict[int, bytes] = {}

    def __contains__(self, token: int) -> bool:
        return 0 <= token < self.n_tokens

    def tokenize(self, text: str | bytes, *, add_special: bool, parse_special: bool) -> list[int]:
        """Text as ids.

        add_special: put BOS (and EOS) where the model wants them.  parse_special: a control token's text in `text`
        becomes that token; otherwise it stays ordinary text. Lone surrogates are replaced, as in any UTF-8 encoder.
        """
        if self.type is VocabType.NONE:
            raise ValueError("this model has no tokenizer")
        data = text if isinstance(text, bytes) else text.encode("utf-8", errors="replace")
        if len(data) > _MAX_TEXT:
            raise ValueError("text is longer than 2 GiB")
        room = len(data) + 2
        buffer = (ctypes.c_int32 * room)()
        count = int(ll.llama_tokenize(self.pointer, data, len(data), buffer, room, add_special, parse_special))
        if count < 0:
            room = -count
            buffer = (ctypes.c_int32 * room)()
            count = int(ll.llama_tokenize(self.pointer, data, len(data), buffer, room, add_special, parse_special))
        return buffer[:count]

    def piece(self, token: int, *, special: bool = True) -> bytes:
        """The bytes of one token, perhaps a part of a character. special: show control tokens too.

        Raises ValueError for an id out of range.
        """
        if not special and self.attribute(token) & (TokenAttribute.CONTROL | TokenAttribute.UNKNOWN):
            return b""
        found = self._pieces.get(token)
        if found is None:
            found = self._pieces[token] = self._read_piece(token)
        return found

    def read_all(self) -> Iterator[tuple[bytes, int]]:
        """The piece of every token in order, and its TokenAttribute as a plain number.

        A third of the time that asking for each takes, and nothing is kept: most are never written.
        """
        read, attribute, pointer = ll.llama_token_to_piece, ll.llama_vocab_get_attr, self.pointer
        buffer = ctypes.create_string_buffer(_USUAL_PIECE)
        for token in range(self.n_tokens):
            size = read(pointer, token, buffer, _USUAL_PIECE, 0, True)
            yield buffer.raw[:size] if size >= 0 else self._read_piece(token), attribute(pointer, token)

    def detokenize(self, tokens: Iterable[int], *, special: bool = True) -> bytes:
        """The joined bytes of tokens, each as it is written in the middle of a text."""
        return b"".join(self.piece(token, special=special) for token in tokens)

    def attribute(self, token: int) -> TokenAttribute:
        """What the token is. Raises ValueError for an id out of range."""
        self._check(token)
        return TokenAttribute(int(ll.llama_vocab_get_attr(self.pointer, token)))

    def is_control(self, token: int) -> bool:
        return bool(self.attribute(token) & TokenAttribute.CONTROL)

    def is_user_defined(self, token: int) -> bool:
        return bool(self.attribute(token) & TokenAttribute.USER_DEFINED)

    def is_end(self, token: int) -> bool:
        """Does this token end generation?"""
        self._check(token)
        return bool(ll.llama_vocab_is_eog(self.pointer, token))

    @cached_property
    def end_tokens(self) -> frozenset[int]:
        """Every end-of-generation id. The first use asks llama.cpp about each token (50 ms for 262k)."""
        is_end, pointer = ll.llama_vocab_is_eog, self.pointer
        return frozenset(token for token in range(self.n_tokens) if is_end(pointer, token))

    @cached_property
    def suppressed_tokens(self) -> tuple[int, ...]:
        """Ids that the model's file says must never be generated."""
        count = ctypes.c_int32(0)
        found = ll.llama_vocab_get_suppress_tokens(self.pointer, ctypes.byref(count))
        return tuple(found[: count.value]) if found and count.value > 0 else ()

    def token_of(self, text: str) -> int | None:
        """The id of the control or user-defined token that is written exactly so, or None."""
        tokens = self.tokenize(text, add_special=False, parse_special=True)
        special = TokenAttribute.CONTROL | TokenAttribute.USER_DEFINED | TokenAttribute.UNKNOWN
        if len(tokens) == 1 and self.attribute(tokens[0]) & special and self.piece(tokens[0]) == text.encode():
            return tokens[0]
        return None

    def require(self, tokens: Sequence[int]) -> None:
        """Raise ValueError unless every id is in the vocabulary."""
        if tokens and (min(tokens) < 0 or max(tokens) >= self.n_tokens):
            raise ValueError(f"token ids must be between 0 and {self.n_tokens - 1}")

    def _check(self, token: int) -> None:
        if not 0 <= token < self.n_tokens:
            raise ValueError(f"token id {token} is not between 0 and {self.n_tokens - 1}")

    def _read_piece(self, token: int) -> bytes:
        self._check(token)
        buffer = ctypes.create_string_buffer(_USUAL_PIECE)
        size = int(ll.llama_token_to_piece(self.pointer, token, buffer, len(buffer), 0, True))
        if size < 0:
            buffer = ctypes.create_string_buffer(-size)
            size = int(ll.llama_token_to_piece(self.pointer, token, buffer, len(buffer), 0, True))
        return buffer.raw[:size]


def _id(token: int) -> int | None:
    return None if token < 0 else int(token)
