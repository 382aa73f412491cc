"""Reranking over HTTP: scores as llama.cpp computes them, best first, in each client's shape."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.asking import post
from support.encoder_gguf import write_bert
from support.gguf_vocab import BOS, EOS, byte_tokens
from support.raw_embedding import RawEmbedding
from support.real import serving_file

from ferrox_gguf.settings import EmbeddingSettings

RANKS = EmbeddingSettings(enabled=True, reranking=True, pooling="rank")
QUERY = "what is a panda?"
DOCUMENTS = ["hi", "it is a bear", "the giant panda lives in china", "a train"]
PATHS = ("/rerank", "/reranking", "/v1/rerank", "/v1/reranking")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("rank") / "rank.gguf", rank=True)


@pytest.fixture(scope="module")
def url(model: Path) -> Iterator[str]:
    with serving_file(model, embedding=RANKS) as url:
        yield url


def scores(model: Path, inputs: list[list[int]]) -> list[float]:
    with closing(RawEmbedding(model, "rank")) as raw:
        return [float(raw.embed(tokens)[0, 0]) for tokens in inputs]


def results(url: str, path: str = "/rerank", **fields: object) -> list[dict]:
    answer = post(url + path, {"query": QUERY, "documents": DOCUMENTS, **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


@pytest.mark.parametrize("path", PATHS)
def test_documents_come_best_first_with_llama_cpps_scores(url: str, model: Path, path: str) -> None:
    pairs = [[BOS, *byte_tokens(QUERY), EOS, *byte_tokens(document), EOS] for document in DOCUMENTS]
    wanted = scores(model, pairs)
    found = results(url, path)
    assert [one["index"] for one in found] == sorted(range(4), key=lambda at: -wanted[at])
    for one in found:
        # llama.cpp looks GELU up in a table of 16-bit floats, which makes steps of what batches round differently.
        assert one["relevance_score"] == pytest.approx(wanted[one["index"]], abs=1e-3)
        [alone] = results(url, path, documents=[DOCUMENTS[one["index"]]])
        assert alone["relevance_score"] == pytest.approx(wanted[one["index"]], abs=1e-5)
    assert max(wanted) - min(wanted) > 0.1


def test_a_rerank_template_of_the_file_is_filled_in(tmp_path: Path) -> None:
    path = write_bert(tmp_path / "rank.gguf", rank=True, rerank_template="q: {query} d: {document}")
    with serving_file(path, embedding=RANKS) as url:
        # What a person wrote is never taken for a place of the template.
        query = "about {document}"
        answer = post(url + "/rerank", {"query": query, "documents": ["one", "{query}"]}).json()
    wanted = scores(path, [byte_tokens(f"q: {query} d: {text}") for text in ("one", "{query}")])
    for one in answer["results"]:
        assert one["relevance_score"] == pytest.approx(wanted[one["index"]], abs=1e-3)
    assert abs(wanted[0] - wanted[1]) > 0.01


@pytest.mark.parametrize(("top_n", "count"), [(None, 4), (2, 2), (99, 4)])
def test_top_n_keeps_the_best(url: str, top_n: int | None, count: int) -> None:
    assert results(url, top_n=top_n) == results(url)[:count]


def test_jina_cohere_and_tei_clients_get_their_shapes(url: str) -> None:
    answer = post(
        url + "/v1/rerank", {"query": QUERY, "documents": [{"text": "a bear"}], "return_documents": True}
    ).json()
    [one] = answer["results"]
    assert one["document"] == {"text": "a bear"}
    assert answer["object"] == "list"
    assert answer["usage"]["prompt_tokens"] == answer["usage"]["total_tokens"] == len(QUERY) + len("a bear") + 3
    tei = post(url + "/rerank", {"query": QUERY, "texts": DOCUMENTS, "return_text": True}).json()
    assert [(item["index"], item["text"]) for item in tei] == [
        (one["index"], DOCUMENTS[one["index"]]) for one in results(url)
    ]
    assert tei[0]["score"] >= tei[-1]["score"]


def test_hundreds_of_documents_are_one_request(url: str) -> None:
    found = results(url, documents=[f"document {number}" for number in range(400)])
    assert sorted(one["index"] for one in found) == list(range(400))
    values = [one["relevance_score"] for one in found]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"documents": ["a"]}, "query"),
        ({"query": 5, "documents": ["a"]}, "query"),
        ({"query": "q"}, "documents"),
        ({"query": "q", "documents": []}, "documents"),
        ({"query": "q", "documents": [1]}, "documents[0]"),
        ({"query": "q", "texts": "a"}, "texts"),
    ],
)
def test_a_wrong_field_is_refused_by_name(url: str, body: dict, named: str) -> None:
    answer = post(url + "/rerank", body)
    assert answer.status_code == 400
    assert f"'{named}'" in answer.json()["error"]["message"]


def test_a_pair_too_long_for_a_micro_batch_is_refused_with_both_numbers(url: str) -> None:
    answer = post(url + "/rerank", {"query": "q", "documents": ["short", "x" * 300]})
    assert answer.status_code == 500
    assert "input (304 tokens) is too large to process" in answer.json()["error"]["message"]


def test_an_embedding_server_without_scores_does_not_rerank(tmp_path: Path) -> None:
    with serving_file(write_bert(tmp_path / "bert.gguf"), embedding=EmbeddingSettings(enabled=True)) as url:
        answer = post(url + "/rerank", {"query": "q", "documents": ["d"]})
        assert (answer.status_code, answer.json()["error"]["type"]) == (501, "not_supported_error")
