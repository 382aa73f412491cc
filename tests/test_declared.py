"""What a schema declares."""

from __future__ import annotations

import pytest

from ferrox_gguf.declared import Declared

ROOT = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "referred": {"$ref": "#/$defs/Rank"},
        "escaped": {"$ref": "#/$defs/a~1b%20c"},
        "wrapped": {"allOf": [{"$ref": "#/$defs/Rank"}], "description": "how pydantic writes a default"},
        "constant": {"const": 4},
        "choice": {"enum": ["red", "green"]},
        "numbers": {"enum": [1, 2]},
        "mixed": {"enum": ["auto", None, 0.5]},
        "nullable": {"type": ["string", "null"]},
        "any": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/Box"}]},
        "one": {"oneOf": [{"type": "boolean"}, {"type": "null"}]},
        "open": {"anyOf": [{"type": "integer"}, {}]},
        "several": {"allOf": [{"type": "integer"}, {"minimum": 3}]},
        "implied": {"properties": {"x": {"type": "integer"}}},
        "listed": {"items": {"type": "integer"}},
        "loop": {"$ref": "#/$defs/Loop"},
        "missing": {"$ref": "#/$defs/Nowhere"},
        "remote": {"$ref": "https://example.com/schema.json"},
        "odd": {"type": "text"},
        "true": True,
    },
    "$defs": {
        "Rank": {"type": "integer"},
        "a/b c": {"type": "number"},
        "Box": {"type": "object", "properties": {"w": {"type": "number"}, "tags": {"$ref": "#/$defs/Tags"}}},
        "Tags": {"type": "array", "items": {"type": "string"}},
        "Loop": {"$ref": "#/$defs/Loop"},
    },
}
ARGUMENTS = Declared.arguments(ROOT)


@pytest.mark.parametrize(
    ("key", "types"),
    [
        ("name", {"string"}),
        ("referred", {"integer"}),
        ("escaped", {"number"}),
        ("wrapped", {"integer"}),
        ("constant", {"integer"}),
        ("choice", {"string"}),
        ("numbers", {"integer"}),
        ("mixed", {"string", "null", "number"}),
        ("nullable", {"string", "null"}),
        ("any", {"integer", "object"}),
        ("one", {"boolean", "null"}),
        ("implied", {"object"}),
        ("listed", {"array"}),
    ],
)
def test_references_and_values_are_resolved_before_the_type_is_looked_up(key, types):
    assert ARGUMENTS.member(key).types == types


@pytest.mark.parametrize("key", ["open", "several", "loop", "missing", "remote", "odd", "true", "unheard of"])
def test_what_names_no_type_declares_nothing(key):
    assert ARGUMENTS.member(key).types == set()


def test_members_and_items_are_declared_at_any_depth():
    box = ARGUMENTS.member("any")
    assert box.member("w").types == {"number"}
    assert box.member("tags").item().types == {"string"}
    assert ARGUMENTS.member("listed").item().types == {"integer"}
    assert ARGUMENTS.member("name").item().types == set()


def test_members_of_any_name_may_be_declared_together():
    arguments = Declared.arguments({"type": "object", "additionalProperties": {"type": "integer"}})
    assert arguments.member("whatever").types == {"integer"}


def test_alternatives_of_alternatives_do_not_multiply():
    schema: dict = {"type": "integer"}
    for _ in range(60):
        schema = {"anyOf": [schema, schema]}
    assert Declared.by(schema, schema).types <= {"integer"}


def test_a_schema_that_is_none_declares_nothing():
    for schema in ({}, {"properties": []}, {"properties": {"a": 3}}, {"type": 5}, {"anyOf": 3}, {"allOf": []}):
        assert Declared.arguments(schema).member("a").types == set()


def test_openapis_nullable_is_a_type_of_its_own():
    assert Declared.by({"type": "string", "nullable": True}, {}).types == {"string", "null"}
    assert Declared.by({"type": "string", "nullable": False}, {}).types == {"string"}
