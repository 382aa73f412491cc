"""Reading the fields of one JSON object as llama-server reads them.

A null is a field that was left out. Numbers are taken from numbers and booleans (a fraction is cut where a whole number
is wanted), never from strings. What does not fit is an InvalidField that names the field and what is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import orjson

from ferrox_gguf.errors import InvalidField, RequestError
from ferrox_gguf.json_types import Json, JsonObject

INT32_MAX = 2**31 - 1
FLOAT32_MAX = 3.4e38
"""A little below the largest number of 32 bits."""

DEEPEST = 100
"""Arrays and objects inside each other. No request needs so many, and every walk over the body is safe within them."""


def parse_body(body: bytes) -> JsonObject:
    """The request's JSON object. Raises RequestError for anything else: broken JSON, bad UTF-8, a list, a deep nest."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestError(f"the body is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise RequestError(f"the body must be a JSON object, not {kind(value)}")
    # Few brackets cannot nest deeply, and long lists of numbers have few.
    if body.count(b"[") + body.count(b"{") > DEEPEST and is_deeper(value, DEEPEST):
        raise RequestError(f"the body is nested too deeply: {DEEPEST} levels at most")
    return cast(JsonObject, value)


def is_deeper(value: Json, levels: int) -> bool:
    """Level by level, without a call for each."""
    level: list[Json] = [value]
    while level and levels:
        below: list[Json] = []
        for each in level:
            children = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
            below += [child for child in children if isinstance(child, (dict, list))]
        level, levels = below, levels - 1
    return bool(level)


def kind(value: Json) -> str:
    """JSON's own name for a value's type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def boolean(body: JsonObject, name: str, default: bool) -> bool:
    """A JSON boolean; nothing else is one."""
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise InvalidField(name, f"must be a boolean, not {kind(value)}")
    return value


def number(body: JsonObject, name: str, default: float, low: float = -math.inf, high: float = math.inf) -> float:
    """A number within [low, high]."""
    value = body.get(name)
    if value is None:
        return default
    return check_range(name, as_number(name, value), low, high)


def integer(body: JsonObject, name: str, default: int, low: int = -INT32_MAX - 1, high: int = INT32_MAX) -> int:
    """A whole number within [low, high]; the fraction of 1.9 is cut."""
    value = body.get(name)
    if value is None:
        return default
    return int(check_range(name, math.trunc(as_number(name, value)), low, high))


def string(body: JsonObject, name: str, default: str = "") -> str:
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise InvalidField(name, f"must be a string, not {kind(value)}")
    return value


def strings(body: JsonObject, name: str) -> tuple[str, ...] | None:
    """A list of strings, or None when the field was left out."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidField(name, "must be an array of strings")
    return tuple(cast("list[str]", value))


def mapping(body: JsonObject, name: str) -> JsonObject:
    """A JSON object, {} when the field was left out."""
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidField(name, f"must be an object, not {kind(value)}")
    return value


def first_given(body: JsonObject, names: Sequence[str]) -> str:
    """The first of several spellings that the client used, or the first spelling when it used none."""
    return next((name for name in names if body.get(name) is not None), names[0])


def as_number(name: str, value: Json) -> float:
    if isinstance(value, (bool, int)):
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise InvalidField(name, f"must be a number, not {kind(value)}")


def check_range(name: str, value: float, low: float, high: float) -> float:
    if not low <= value <= high:
        raise InvalidField(name, f"must be {in_words(low, high)}, but got {value:g}")
    return value


def in_words(low: float, high: float) -> str:
    """A range as a person says it. The largest 32-bit number is no limit that anybody meant."""
    floor = None if low in (-math.inf, -FLOAT32_MAX, -INT32_MAX - 1) else f"{low:g}"
    ceiling = None if high in (math.inf, FLOAT32_MAX, INT32_MAX) else f"{high:g}"
    if floor and ceiling:
        return f"between {floor} and {ceiling}"
    if floor:
        return f"at least {floor}"
    return f"at most {ceiling}" if ceiling else "within 32 bits"
