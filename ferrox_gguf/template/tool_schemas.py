"""Tools as templates see them: complete enough to be read unasked, and a plain form for templates that still fail.

Templates read `description`, `parameters.properties` and `required` without looking. Some walk into the schema and
break on what they did not foresee (a list of types, a property without a description): they get the plain form, in
which every property has one type and a description.
"""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.json_types import Json
from ferrox_gguf.request import Tool

_DEEPEST = 32


def described(tool: Tool) -> dict[str, Json]:
    """One tool in OpenAI's form. What the client left out is there, empty; what it sent is as it was."""
    parameters: dict[str, Json] = {"type": "object", "properties": {}, **tool.parameters}
    if parameters.get("required", ()) is None:
        del parameters["required"]
    if not isinstance(parameters["properties"], dict):
        parameters["properties"] = {}
    return _function(tool, parameters)


def plain(tool: Tool) -> dict[str, Json]:
    """One tool for a template that reads schemas and knows only the simple ones."""
    parameters = _plain_schema({**tool.parameters, "type": "object"}, 0)
    return _function(tool, {"required": [], **parameters})


def all_described(tools: Sequence[Tool]) -> list[dict[str, Json]]:
    return [described(tool) for tool in tools]


def all_plain(tools: Sequence[Tool]) -> list[dict[str, Json]]:
    return [plain(tool) for tool in tools]


def _function(tool: Tool, parameters: dict[str, Json]) -> dict[str, Json]:
    function: dict[str, Json] = {"name": tool.name, "description": tool.description or "", "parameters": parameters}
    return {"type": "function", "function": function}


def _plain_schema(schema: Json, depth: int) -> dict[str, Json]:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return {"type": "string", "description": ""}
    kind = _one_type(schema)
    out: dict[str, Json] = {"type": kind, "description": _text(schema.get("description"))}
    values = schema.get("enum")
    if isinstance(values, list):
        out["enum"] = [value for value in values if isinstance(value, str)]
    if kind == "array":
        out["items"] = _plain_schema(schema.get("items"), depth + 1)
    if kind == "object":
        properties = schema.get("properties")
        named = properties if isinstance(properties, dict) else {}
        out["properties"] = {name: _plain_schema(value, depth + 1) for name, value in named.items()}
        required = schema.get("required")
        out["required"] = [name for name in required if name in named] if isinstance(required, list) else []
        out["additionalProperties"] = _plain_schema(schema.get("additionalProperties"), depth + 1)
    return out


def _one_type(schema: dict[str, Json]) -> str:
    """The first type that is not null, wherever it is written; a guess from the other keys; or string."""
    given = schema.get("type")
    kinds = given if isinstance(given, list) else [given]
    for key in ("anyOf", "oneOf", "allOf"):
        members = schema.get(key)
        if isinstance(members, list):
            kinds = [*kinds, *(member.get("type") for member in members if isinstance(member, dict))]
    for kind in kinds:
        if isinstance(kind, str) and kind != "null":
            return kind
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
