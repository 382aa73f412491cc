"""llguidance's view of a loaded vocabulary: here because it takes llama.cpp's pointers.

Building it reads every token once (about a second for 152k tokens): in the background, never on a request's way.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import llama_cpp as ll
from llguidance import LLTokenizer

from ferrox_gguf.llama.vocab import TokenAttribute, Vocab


def build_tokenizer(vocab: Vocab, end_tokens: Sequence[int]) -> LLTokenizer:
    """The tokenizer that grammars are compiled against.

    end_tokens: every id that ends generation; a grammar that is complete allows all of them.
    Marker-like tokens are special there: a grammar has to name them by id, and text never contains them.
    """
    tokens = [_piece(vocab, token) for token in range(vocab.n_tokens)]
    tokenize = ctypes.cast(ll.llama_cpp._lib.llama_tokenize, ctypes.c_void_p).value
    return LLTokenizer.from_llamacpp(
        tokens=tokens, vocab_ptr=vocab.pointer, tokenize_fptr=tokenize, eos_token=list(end_tokens), slices=None
    )


def is_special(vocab: Vocab, token: int) -> bool:
    """Whether a grammar must name this token by its id instead of by its text."""
    attribute = vocab.attribute(token)
    if attribute & TokenAttribute.CONTROL:
        return True
    text = vocab.piece(token)
    return bool(attribute & TokenAttribute.USER_DEFINED) and text.startswith(b"<") and text.endswith(b">")


def _piece(vocab: Vocab, token: int) -> bytes:
    text = vocab.piece(token)
    return b"\xff" + text if is_special(vocab, token) else text
