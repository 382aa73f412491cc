"""The walk over a caller's JSON Schema."""

from __future__ import annotations

import pytest

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.grammar.schema import MAX_DEPTH, MAX_NODES, prepare_schema
from ferrox_gguf.json_types import Json


def prepared(schema: Json) -> Json:
    return dict(prepare_schema(schema, field="json_schema"))


@pytest.mark.parametrize(
    "keyword", ["not", "if", "uniqueItems", "contains", "propertyNames", "dependentRequired", "unevaluatedProperties"]
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
    assert prepared({"type": "string", "format": "date"}) == {"type": "string", "format": "date"}
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
