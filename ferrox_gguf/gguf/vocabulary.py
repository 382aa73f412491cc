"""The few tokens of a vocabulary that matter before the model is loaded: the control and user-defined ones.

Ordinary tokens are never decoded: a vocabulary of 262,000 has some hundred to some thousand special ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from gguf.constants import GGUFValueType, Keys, TokenType

from ferrox_gguf.errors import GgufError
from ferrox_gguf.gguf.header import ArraySpan, Header


@dataclass(frozen=True, slots=True)
class SpecialToken:
    """A CONTROL or USER_DEFINED token. control: which of the two."""

    id: int
    text: str
    control: bool


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """size: number of tokens.  special: by text; of two tokens with one text, the first."""

    size: int
    special: Mapping[str, SpecialToken]


def read_vocabulary(header: Header) -> Vocabulary:
    """Raises GgufError when the token arrays have the wrong types or different lengths. No arrays: an empty one."""
    texts = _texts(header)
    kinds = header.array(
        Keys.Tokenizer.TOKEN_TYPE, (GGUFValueType.INT32, GGUFValueType.UINT32), "an array of 32-bit integers"
    )
    if texts is None:
        return Vocabulary(0, MappingProxyType({}))
    if kinds is None:
        return Vocabulary(texts.count, MappingProxyType({}))
    if kinds.count != texts.count:
        raise GgufError(
            header.path, f"{Keys.Tokenizer.LIST} has {texts.count} entries, {Keys.Tokenizer.TOKEN_TYPE} {kinds.count}"
        )
    values = np.frombuffer(header.mapped, dtype="<i4", count=kinds.count, offset=kinds.start)
    special: dict[str, SpecialToken] = {}
    for index in np.flatnonzero((values == TokenType.CONTROL) | (values == TokenType.USER_DEFINED)).tolist():
        text = token_text(header, texts, index)
        special.setdefault(text, SpecialToken(index, text, bool(values[index] == TokenType.CONTROL)))
    return Vocabulary(texts.count, MappingProxyType(special))


def token_at(header: Header, key: str) -> tuple[int, str | None] | None:
    """The id that `key` (such as tokenizer.ggml.eos_token_id) names, with its text if the vocabulary has that id."""
    index = header.integer(key)
    if index is None:
        return None
    texts = _texts(header)
    return index, token_text(header, texts, index) if texts is not None and 0 <= index < texts.count else None


def token_text(header: Header, texts: ArraySpan, index: int) -> str:
    assert texts.offsets is not None, "an array of strings has offsets"
    begin = int(texts.offsets[index])
    length = int.from_bytes(header.mapped[begin : begin + 8], "little")
    return header.mapped[begin + 8 : begin + 8 + length].decode("utf-8", errors="replace")


def _texts(header: Header) -> ArraySpan | None:
    return header.array(Keys.Tokenizer.LIST, (GGUFValueType.STRING,), "an array of strings")
