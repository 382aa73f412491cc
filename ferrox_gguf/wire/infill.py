"""llama-server's `/infill`: code around the cursor, from an editor."""

from __future__ import annotations

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.request import ExtraFile, InfillRequest
from ferrox_gguf.wire.fields import kind, string
from ferrox_gguf.wire.generation import parse_generation
from ferrox_gguf.wire.served import Served


def parse_infill(body: JsonObject, served: Served) -> InfillRequest:
    for name in ("input_prefix", "input_suffix"):
        if body.get(name) is None:
            raise InvalidField(name, "is required")
    return InfillRequest(
        prefix=string(body, "input_prefix"),
        suffix=string(body, "input_suffix"),
        prompt=string(body, "prompt"),
        extra=parse_extra(body.get("input_extra")),
        generation=parse_generation(body, served),
    )


def parse_extra(value: Json) -> tuple[ExtraFile, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidField("input_extra", f"must be an array of objects with text and filename, not {kind(value)}")
    return tuple(parse_file(item, f"input_extra[{at}]") for at, item in enumerate(value))


def parse_file(item: Json, path: str) -> ExtraFile:
    """filename may be missing; text may not."""
    text = item.get("text") if isinstance(item, dict) else None
    name = item.get("filename", "tmp") if isinstance(item, dict) else None
    if not isinstance(text, str):
        raise InvalidField(f"{path}.text", f"must be a string, not {kind(text)}")
    if not isinstance(name, str):
        raise InvalidField(f"{path}.filename", f"must be a string, not {kind(name)}")
    return ExtraFile(text, name)
