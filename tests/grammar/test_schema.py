"""The walk over a caller's JSON Schema."""

from __future__ import annotations

import re

import pytest

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.grammar.formats import PATTERNS as FORMAT_PATTERNS
from ferrox_gguf.grammar.schema import MAX_DEPTH, MAX_NODES, prepare_schema
from ferrox_gguf.json_types import Json


def prepared(schema: Json) -> Json:
    return dict(prepare_schema(schema, field="json_schema"))


@pytest.mark.parametrize(
    "keyword", ["not", "if", "uniqueItems", "contains", "dependentRequired", "$dynamicRef", "unknown", "$vocabulary"]
)
def test_a_keyword_that_cannot_be_enforced_is_refused_with_its_path(keyword: str) -> None:
    schema = {"type": "object", "properties": {"a": {"items": {keyword: {}}}}}
    with pytest.raises(InvalidField) as refused:
        prepared(schema)
    assert refused.value.field == f"json_schema.properties.a.items.{keyword}"


def test_annotations_and_extensions_are_dropped_and_assertions_kept() -> None:
    schema = {"title": "T", "description": "d", "x-order": 1, "default": 3, "type": "integer", "minimum": 2}
    assert prepared(schema) == {"type": "integer", "minimum": 2}


def test_a_property_called_like_an_annotation_is_a_property() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}, "not": {"type": "null"}}}
    assert prepared(schema) == schema


def test_a_known_format_is_enforced_and_an_unknown_one_is_an_annotation() -> None:
    assert prepared({"type": "string", "format": "uuid"}) == {"type": "string", "format": "uuid"}
    assert prepared({"type": "integer", "format": "int32"}) == {"type": "integer"}


def test_the_tuple_form_of_older_drafts_becomes_prefix_items() -> None:
    schema = {"items": [{"type": "string"}, {"type": "null"}], "additionalItems": False}
    assert prepared(schema) == {"prefixItems": [{"type": "string"}, {"type": "null"}], "items": False}


def test_openapi_nullable_is_a_union_with_null() -> None:
    assert prepared({"type": "string", "nullable": True}) == {"anyOf": [{"type": "string"}, {"type": "null"}]}


@pytest.mark.parametrize(
    "branches",
    [
        [{"type": "string"}, {"type": "integer"}, {"type": "null"}],
        [{"const": 1}, {"const": True}, {"enum": ["1", None]}],
        [{"enum": [1, 2]}, {"type": "string"}],
        [
            {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]},
            {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
        ],
        [
            {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
            {"type": "object", "properties": {"b": {}}, "required": ["b"]},
        ],
        [{"$ref": "#/$defs/text"}, {"type": "boolean"}],
    ],
)
def test_one_of_with_provably_disjoint_branches_becomes_any_of(branches: list[Json]) -> None:
    result = prepared({"oneOf": branches, "$defs": {"text": {"type": "string"}}})
    assert isinstance(result, dict)
    assert result["anyOf"] == branches
    assert "oneOf" not in result


@pytest.mark.parametrize(
    "branches",
    [
        [{"type": "number"}, {"type": "integer"}],
        [{"const": 1}, {"const": 1.0}],
        [{"type": "string"}, {}],
        [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}],
        [{"type": "object", "properties": {"k": {"const": 1}}}, {"type": "object", "properties": {"k": {"const": 2}}}],
    ],
)
def test_one_of_whose_branches_may_match_together_is_refused(branches: list[Json]) -> None:
    with pytest.raises(InvalidField, match="oneOf"):
        prepared({"properties": {"v": {"oneOf": branches}}})


def test_a_reference_out_of_the_schema_is_refused_and_a_dangling_one_too() -> None:
    with pytest.raises(InvalidField, match="inside the schema"):
        prepared({"$ref": "https://example.com/schema"})
    with pytest.raises(InvalidField, match="points at nothing"):
        prepared({"$ref": "#/$defs/missing"})


def test_a_reference_into_what_is_rewritten_still_finds_its_target() -> None:
    schema: Json = {
        "oneOf": [{"type": "string", "nullable": True}, {"$ref": "#/oneOf/0/x"}],
        "properties": {"a": {"$ref": "#/properties/b%25"}, "b%": {"oneOf": [{"type": "string"}, {"type": "null"}]}},
    }
    with pytest.raises(InvalidField, match="points at nothing"):
        prepared(schema)
    assert isinstance(schema, dict)
    del schema["oneOf"]
    result = prepared(schema)
    assert isinstance(result, dict)
    properties, definitions = result["properties"], result["$defs"]
    assert isinstance(properties, dict)
    assert isinstance(definitions, dict)
    assert properties["a"] == {"$ref": "#/$defs/target0"}
    assert definitions["target0"] == properties["b%"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}


def test_a_definition_may_have_any_name() -> None:
    result = prepared({"$ref": "#/$defs/a%22b~1c", "$defs": {'a"b/c': {"type": "null"}}})
    assert isinstance(result, dict)
    assert result["$ref"] == "#/$defs/target0"
    assert result["$defs"] == {'a"b/c': {"type": "null"}, "target0": {"type": "null"}}


def test_a_reference_inside_a_part_with_an_id_of_its_own_is_refused() -> None:
    part = {"$id": "https://example.com/part", "properties": {"a": {"$ref": "#/$defs/x"}}}
    with pytest.raises(InvalidField) as refused:
        prepared({"$defs": {"x": {}}, "properties": {"p": part}})
    assert refused.value.field == "json_schema.properties.p.properties.a.$ref"


@pytest.mark.parametrize(
    ("schema", "equal"),
    [
        ({"minLength": 2.0}, {"minLength": 2}),
        ({"minimum": 3, "exclusiveMinimum": True}, {"minimum": 3, "exclusiveMinimum": 3}),
        ({"maximum": 3, "exclusiveMaximum": False}, {"maximum": 3}),
        ({"uniqueItems": False}, {}),
        ({"propertyNames": {"type": "string"}}, {}),
        (
            {"propertyNames": {"pattern": "^a"}, "additionalProperties": {"type": "null"}},
            {
                "allOf": [{"patternProperties": {"^a": {"type": "null"}}, "additionalProperties": False}],
                "additionalProperties": {"type": "null"},
            },
        ),
        ({"unevaluatedProperties": False}, {"additionalProperties": False}),
        ({"prefixItems": [{}], "unevaluatedItems": False}, {"prefixItems": [{}], "items": False}),
        ({"anyOf": [{}], "oneOf": [{"const": 1}]}, {"anyOf": [{}], "allOf": [{"anyOf": [{"const": 1}]}]}),
    ],
)
def test_what_has_an_equal_form_is_rewritten(schema: Json, equal: Json) -> None:
    assert prepared(schema) == equal


def test_unevaluated_beside_a_reference_is_refused() -> None:
    with pytest.raises(InvalidField, match="unevaluatedProperties"):
        prepared({"$ref": "#/$defs/a", "unevaluatedProperties": False, "$defs": {"a": {}}})


def test_dates_have_a_calendar_and_a_pattern_beside_them_counts_too() -> None:
    date = FORMAT_PATTERNS["date"]
    for text, real in (("2024-02-29", True), ("2023-02-29", False), ("1900-02-29", False), ("2000-02-29", True)):
        assert bool(re.search(date, text)) is real
    assert not re.search(FORMAT_PATTERNS["date-time"], "2024-04-31T00:00:00Z")
    assert re.search(FORMAT_PATTERNS["date-time"], "2024-04-30T23:59:59.5+05:30")
    assert prepared({"pattern": "^2", "format": "date"}) == {"pattern": "^2", "allOf": [{"pattern": date}]}


def test_a_type_that_json_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidField, match="'objekt' is no JSON type"):
        prepared({"type": "objekt"})


def test_an_enormous_schema_and_a_deep_one_are_refused_not_walked() -> None:
    with pytest.raises(InvalidField, match=f"more than {MAX_NODES} parts"):
        prepared({"properties": {f"p{i}": {} for i in range(MAX_NODES + 1)}})
    deep: dict[str, Json] = {}
    for _ in range(MAX_DEPTH):
        deep = {"items": deep}
    with pytest.raises(InvalidField, match="levels deep"):
        prepared({"items": deep})


def test_the_callers_schema_is_not_changed() -> None:
    schema: dict[str, Json] = {"title": "T", "oneOf": [{"type": "string"}, {"type": "null"}]}
    prepared(schema)
    assert schema == {"title": "T", "oneOf": [{"type": "string"}, {"type": "null"}]}
