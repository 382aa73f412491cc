"""`logit_bias` in all its forms: pairs (llama-server) or an object (OpenAI); ids or text; numbers or false."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.json_types import Json
from ferrox_gguf.wire.fields import FLOAT32_MAX, kind
from ferrox_gguf.wire.served import Served


def parse_logit_bias(value: Json, served: Served) -> tuple[tuple[int, float], ...]:
    """(id, bias) pairs in the order sent. Ids outside the vocabulary have no effect, as in llama-server."""
    return tuple(pair for key, bias in entries(value) for pair in spread(key, bias, served))


def entries(value: Json) -> Iterator[tuple[Json, float]]:
    if isinstance(value, dict):
        for key, bias in value.items():
            yield (int(key) if is_id(key) else key), as_bias(bias)
    elif isinstance(value, list):
        for pair in value:
            if not isinstance(pair, list) or len(pair) != 2:
                raise InvalidField("logit_bias", "must be an array of [token, bias] pairs")
            yield pair[0], as_bias(pair[1])
    elif value is not None:
        raise InvalidField("logit_bias", f"must be an array of pairs or an object, not {kind(value)}")


def is_id(key: str) -> bool:
    return key.isascii() and key.removeprefix("-").isdigit()


def as_bias(value: Json) -> float:
    """false bans a token; true means nothing."""
    if value is False:
        return -math.inf
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidField("logit_bias", "a bias must be a number, or false to ban the token")
    if abs(value) > FLOAT32_MAX:
        raise InvalidField("logit_bias", "a bias must be a number of 32 bits, or false to ban the token")
    return float(value)


def spread(key: Json, bias: float, served: Served) -> Iterator[tuple[int, float]]:
    """Text stands for each of its tokens."""
    if isinstance(key, str):
        yield from ((token, bias) for token in served.tokenise(key))
    elif isinstance(key, int) and not isinstance(key, bool):
        if 0 <= key < served.n_vocab:
            yield key, bias
    else:
        raise InvalidField("logit_bias", "a token must be an id or a string")
