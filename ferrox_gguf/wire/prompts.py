"""The shapes of `prompt`: text, token ids, both mixed, an object around either, or a list of those."""

from __future__ import annotations

from ferrox_gguf.errors import InvalidField, NotSupported
from ferrox_gguf.json_types import Json
from ferrox_gguf.request import Prompt

SHAPES = "must be a string, a list of tokens and strings, an object with prompt_string, or a list of these"


def parse_prompts(value: Json) -> tuple[Prompt, ...]:
    """One prompt or several. A list that holds a number is one prompt; a list of anything else is several."""
    if value is None:
        raise InvalidField("prompt", "is required")
    if not isinstance(value, list) or any(is_token(item) for item in value):
        return (parse_prompt(value),)
    if not value:
        raise InvalidField("prompt", "must not be empty")
    return tuple(parse_prompt(item) for item in value)


def parse_prompt(value: Json) -> Prompt:
    if isinstance(value, str):
        return Prompt((value,))
    if isinstance(value, dict):
        return parse_prompt_object(value)
    if isinstance(value, list):
        return Prompt(tuple(parse_piece(piece) for piece in value))
    raise InvalidField("prompt", SHAPES)


def parse_prompt_object(value: dict[str, Json]) -> Prompt:
    if value.get("multimodal_data"):
        raise NotSupported("multimodal_data was sent, but this model takes text only")
    if not isinstance(value.get("prompt_string"), (str, list)):
        raise InvalidField("prompt", SHAPES)
    return parse_prompt(value["prompt_string"])


def parse_piece(piece: Json) -> str | int:
    if isinstance(piece, str):
        return piece
    if isinstance(piece, int) and not isinstance(piece, bool):
        return piece
    raise InvalidField("prompt", SHAPES)


def is_token(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
