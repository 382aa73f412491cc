"""Rerank requests and bodies."""

from __future__ import annotations

import json

import pytest

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.json_types import Json
from ferrox_gguf.wire.rerank import parse_rerank, rerank_body


def test_the_best_come_first_and_top_n_bounds_them() -> None:
    request = parse_rerank({"query": "q", "documents": ["a", "b", "c"], "top_n": 2, "model": "mine"})
    body = json.loads(rerank_body(request, [0.1, 0.9, 0.5], 12, "served"))
    assert body == {
        "model": "mine",
        "object": "list",
        "usage": {"prompt_tokens": 12, "total_tokens": 12},
        "results": [{"index": 1, "relevance_score": 0.9}, {"index": 2, "relevance_score": 0.5}],
    }


def test_teis_form_is_a_bare_list_of_scores() -> None:
    request = parse_rerank({"query": "q", "texts": ["a", "b"], "return_text": True})
    assert json.loads(rerank_body(request, [1.0, 2.0], 5, "m")) == [
        {"index": 1, "score": 2.0, "text": "b"},
        {"index": 0, "score": 1.0, "text": "a"},
    ]


def test_documents_are_repeated_on_request_and_may_be_objects_with_a_text() -> None:
    request = parse_rerank({"query": "q", "documents": [{"text": "a"}], "return_documents": True})
    assert json.loads(rerank_body(request, [1.0], 1, "m"))["results"][0]["document"] == {"text": "a"}


@pytest.mark.parametrize("documents", [[], None, 123, [1, 2], "text", [{"title": "x"}]])
def test_what_is_no_list_of_texts_is_refused(documents: Json) -> None:
    with pytest.raises(InvalidField, match="documents"):
        parse_rerank({"query": "q", "documents": documents})


def test_a_query_is_a_string() -> None:
    with pytest.raises(InvalidField, match="query"):
        parse_rerank({"documents": ["a"]})
