"""The byte vocabulary that every GGUF written for tests has: one token a byte, so a prompt's length is its bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gguf import GGUFWriter, TokenType

UNKNOWN, BOS, EOS, FIRST_BYTE, SPACE = 0, 1, 2, 3, 259
_SPACE = "\N{LOWER ONE EIGHTH BLOCK}"
"""How SentencePiece vocabularies write a space inside a piece."""


@dataclass
class ByteVocab:
    """Ids 0, 1, 2 are <unk>, <s>, </s>; then 256 bytes, the space (as SentencePiece has it), and what is added."""

    texts: list[str] = field(
        default_factory=lambda: ["<unk>", "<s>", "</s>", *(f"<0x{b:02X}>" for b in range(256)), _SPACE]
    )
    kinds: list[TokenType] = field(
        default_factory=lambda: [
            TokenType.UNKNOWN,
            TokenType.CONTROL,
            TokenType.CONTROL,
            *[TokenType.BYTE] * 256,
            TokenType.NORMAL,
        ]
    )

    def add(self, text: str, kind: TokenType = TokenType.NORMAL) -> int:
        """The id of a token that is written so; added when it is new."""
        written = text if kind is not TokenType.NORMAL else text.replace(" ", _SPACE)
        for known in (text, written):
            if known in self.texts:
                return self.texts.index(known)
        self.texts.append(written)
        self.kinds.append(kind)
        return len(self.texts) - 1

    def add_all(self, texts: Sequence[str], kind: TokenType) -> None:
        for text in texts:
            self.add(text, kind)

    def write(self, writer: GGUFWriter, *, add_bos: bool = False) -> None:
        writer.add_vocab_size(len(self.texts))
        writer.add_tokenizer_model("llama")
        writer.add_token_list(self.texts)
        writer.add_token_types(self.kinds)
        writer.add_token_scores([-1.0 if kind is TokenType.NORMAL else 0.0 for kind in self.kinds])
        writer.add_bos_token_id(BOS)
        writer.add_eos_token_id(EOS)
        writer.add_unk_token_id(UNKNOWN)
        writer.add_add_bos_token(add_bos)
        writer.add_add_space_prefix(False)


def byte_tokens(text: str) -> list[int]:
    """The ids of a text without special tokens."""
    return [SPACE if byte == 0x20 else FIRST_BYTE + byte for byte in text.encode()]
