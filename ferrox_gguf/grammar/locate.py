"""Where in a schema the part stands that llguidance does not take: its own errors name a keyword, never a place."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

from ferrox_gguf.grammar.schema import BRANCHES, SCHEMAS_BY_NAME
from ferrox_gguf.json_types import Json, JsonObject

SECONDS = 0.5
"""How long to look: the answer is the better for a path, not the worse for a short one."""

_PARTS = ("items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "propertyNames")


def locate(schema: JsonObject, fails: Callable[[JsonObject], bool]) -> tuple[str, ...]:
    """The path of the smallest part that fails alone; () where only the whole does.

    fails: whether a schema, which brings the whole one's definitions along, is refused.
    """
    deadline = time.monotonic() + SECONDS
    definitions = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    path: tuple[str, ...] = ()
    node = schema
    while True:
        for step, part in _parts(node):
            if time.monotonic() > deadline:
                return path
            if fails({**part, **definitions}):
                path, node = path + step, part
                break
        else:
            return path


def _parts(node: Mapping[str, Json]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Json]]]:
    for key, value in node.items():
        if key in SCHEMAS_BY_NAME and isinstance(value, Mapping):
            yield from (((key, name), part) for name, part in value.items() if isinstance(part, Mapping))
        elif key in BRANCHES | {"items"} and isinstance(value, list):
            yield from (((key, str(i)), part) for i, part in enumerate(value) if isinstance(part, Mapping))
        elif key in _PARTS and isinstance(value, Mapping):
            yield (key,), value
