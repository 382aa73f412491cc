"""Prompts to token ids."""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.request import Prompt
from ferrox_gguf.runtime.vocabulary import Vocabulary


def prompt_tokens(
    pieces: Sequence[str | int], vocabulary: Vocabulary, *, add_special: bool, parse_special: bool = True
) -> list[int]:
    """The ids of mixed text and ids. BOS goes in front only of text that comes first, as in llama-server."""
    tokens: list[int] = []
    for at, piece in enumerate(pieces):
        if isinstance(piece, str):
            tokens += vocabulary.tokenize(piece, add_special=add_special and at == 0, parse_special=parse_special)
        elif 0 <= piece < vocabulary.n_tokens:
            tokens.append(piece)
        else:
            raise InvalidField("prompt", f"token ids must be between 0 and {vocabulary.n_tokens - 1}, but got {piece}")
    return tokens


def whole_prompt(prompt: Prompt, vocabulary: Vocabulary) -> tuple[int, ...]:
    """A prompt that generation can start from. An empty one starts from BOS, where the model has one."""
    tokens = prompt_tokens(prompt.pieces, vocabulary, add_special=True)
    if tokens:
        return tuple(tokens)
    if vocabulary.bos is None:
        raise InvalidField("prompt", "must not be empty: this model has no token to begin with")
    return (vocabulary.bos,)
