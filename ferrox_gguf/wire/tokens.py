"""`/tokenize`, `/detokenize`, and how many tokens a conversation has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.wire.fields import boolean
from ferrox_gguf.wire.prompts import is_token, parse_prompt


@dataclass(frozen=True, slots=True)
class Tokenise:
    """What to turn into ids, and how the ids are shown."""

    pieces: tuple[str | int, ...]
    add_special: bool
    parse_special: bool
    with_pieces: bool


def parse_tokenise(body: JsonObject) -> Tokenise:
    content = body.get("content")
    return Tokenise(
        pieces=() if content is None else parse_prompt(content).pieces,
        add_special=boolean(body, "add_special", False),
        parse_special=boolean(body, "parse_special", True),
        with_pieces=boolean(body, "with_pieces", False),
    )


def tokens_json(tokens: Sequence[int], piece: Callable[[int], bytes] | None) -> dict[str, Json]:
    """piece: given when the client wants to see each token's text."""
    if piece is None:
        return {"tokens": list(tokens)}
    return {"tokens": [{"id": token, "piece": piece_json(piece(token))} for token in tokens]}


def piece_json(piece: bytes) -> Json:
    """Text where the bytes are whole characters, the bytes themselves where not."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return list(piece)


def parse_detokenise(body: JsonObject) -> tuple[int, ...]:
    tokens = body.get("tokens")
    if tokens is None:
        return ()
    if not isinstance(tokens, list) or not all(is_token(token) for token in tokens):
        raise InvalidField("tokens", "must be an array of token ids")
    return tuple(token for token in tokens if isinstance(token, int))


def input_tokens_json(count: int) -> dict[str, Json]:
    """OpenAI's answer to `/input_tokens`."""
    return {"object": "response.input_tokens", "input_tokens": count}
