"""`/lora-adapters`: which are loaded, and how strongly each applies to everyone."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from ferrox_gguf.errors import RequestError
from ferrox_gguf.json_types import Json
from ferrox_gguf.request import AdapterState, LoraScale
from ferrox_gguf.wire.fields import kind
from ferrox_gguf.wire.generation import parse_lora_scale


def parse_adapters(body: bytes) -> tuple[LoraScale, ...]:
    """A list of ids and scales; an empty one switches all off."""
    try:
        value: Json = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestError(f"the body is not valid JSON: {error}") from None
    if not isinstance(value, list):
        raise RequestError(f"the body must be an array of objects with id and scale, not {kind(value)}")
    return tuple(parse_lora_scale(item) for item in value)


def adapters_json(adapters: Sequence[AdapterState]) -> list[Json]:
    return [
        {
            "id": number,
            "path": adapter.path,
            "scale": adapter.scale,
            "task_name": adapter.task_name,
            "prompt_prefix": adapter.prompt_prefix,
        }
        for number, adapter in enumerate(adapters)
    ]
