"""Random JSON Schemas whose values stay small, so that a random writer comes to an end."""

from __future__ import annotations

from random import Random

from ferrox_gguf.json_types import Json

PATTERNS = ("^[a-z]{1,5}$", "^(foo|bar)-[0-9]{1,3}$", r"^\d{4}$", '^[^"<]{0,6}$', "^x?(ab)*$", "é|ß")
FORMATS = ("date", "ipv4", "uuid", "date-time", "time", "email")
NAMES = ("city", "seats", "a b", "naïve", 'quo"te', "x_1", "kind", "<tag>")


def random_schema(random: Random, depth: int = 3) -> dict[str, Json]:
    """One schema. Deeper parts become scalars."""
    makers = SCALARS if depth <= 0 else SCALARS + NESTED
    return random.choice(makers)(random, depth - 1)


def random_object(random: Random, depth: int = 3) -> dict[str, Json]:
    """The schema of an object with a few properties, as a tool's parameters are."""
    names = random.sample(NAMES, random.randint(0, 3))
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {name: random_schema(random, depth - 1) for name in names},
        "required": [name for name in names if random.random() < 0.6],
    }
    if random.random() < 0.7:
        schema["additionalProperties"] = False
    else:
        schema["additionalProperties"] = random_schema(random, 0)
        schema["required"] = list(names)  # without which maxProperties is not enforced
        schema["maxProperties"] = len(names) + 1
    return schema


def with_definitions(random: Random) -> dict[str, Json]:
    """An object whose members refer to definitions, one of which refers to itself."""
    schema = random_object(random, 2)
    properties = schema["properties"]
    assert isinstance(properties, dict)
    properties["tree"] = {"$ref": "#/$defs/tree"}
    properties["leaf"] = {"$ref": "#/$defs/leaf"}
    schema["required"] = ["leaf"]
    schema.pop("maxProperties", None)
    schema["additionalProperties"] = False
    schema["$defs"] = {
        "leaf": random_schema(random, 1),
        "tree": {
            "type": "object",
            "properties": {"down": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/tree"}]}},
            "required": ["down"],
            "additionalProperties": False,
        },
    }
    return schema


def _text(random: Random, depth: int) -> dict[str, Json]:
    low = random.randint(0, 4)
    return {"type": "string", "minLength": low, "maxLength": low + random.randint(0, 6)}


def _pattern(random: Random, depth: int) -> dict[str, Json]:
    return {"type": "string", "pattern": random.choice(PATTERNS)}


def _format(random: Random, depth: int) -> dict[str, Json]:
    return {"type": "string", "format": random.choice(FORMATS)}


def _integer(random: Random, depth: int) -> dict[str, Json]:
    low = random.randint(-50, 50)
    limits: list[dict[str, Json]] = [
        {},
        {"minimum": low, "maximum": low + random.randint(0, 200)},
        {"exclusiveMinimum": low},
        {"minimum": 0, "maximum": 1000, "multipleOf": random.choice([2, 5, 7])},
    ]
    return {"type": "integer", **random.choice(limits)}


def _number(random: Random, depth: int) -> dict[str, Json]:
    low = random.choice([-2.5, 0, 0.001, 10])
    limits: list[dict[str, Json]] = [{}, {"minimum": low, "maximum": low + 3.25}, {"exclusiveMaximum": low}]
    return {"type": "number", **random.choice(limits)}


def _plain(random: Random, depth: int) -> dict[str, Json]:
    return {"type": random.choice(["boolean", "null"])}


def _chosen(random: Random, depth: int) -> dict[str, Json]:
    values: list[Json] = ["ja", "nein", 1, 2.5, None, True, {"a": [1]}, [], 'qu"ote', "\n"]
    if random.random() < 0.3:
        return {"const": random.choice(values)}
    return {"enum": random.sample(values, 3)}


def _list(random: Random, depth: int) -> dict[str, Json]:
    low = random.randint(0, 2)
    schema: dict[str, Json] = {"type": "array", "minItems": low, "maxItems": low + random.randint(0, 2)}
    if low and random.random() < 0.3:
        schema["prefixItems"] = [random_schema(random, depth) for _ in range(low)]
    schema["items"] = random_schema(random, depth)
    return schema


def _union(random: Random, depth: int) -> dict[str, Json]:
    return {"anyOf": [random_schema(random, depth) for _ in range(random.randint(1, 3))]}


def _exclusive(random: Random, depth: int) -> dict[str, Json]:
    return {"oneOf": [random_object(random, depth), _text(random, 0), {"type": "null"}, {"const": 7}]}


def _all(random: Random, depth: int) -> dict[str, Json]:
    return {"allOf": [{"type": "string", "minLength": 2}, {"maxLength": 5}]}


def _nullable(random: Random, depth: int) -> dict[str, Json]:
    return {"type": ["string", "null"], "maxLength": 4}


SCALARS = (_text, _text, _pattern, _format, _integer, _number, _plain, _chosen)
NESTED = (random_object, random_object, _list, _union, _exclusive, _all, _nullable)
