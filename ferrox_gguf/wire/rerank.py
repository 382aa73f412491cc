"""Reranking: Jina's request (`documents`) and Hugging Face TEI's (`texts`), best first in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.wire.fields import boolean, integer, kind


@dataclass(frozen=True, slots=True)
class RerankRequest:
    """tei: the client speaks TEI's form.  return_documents: each result repeats its document."""

    query: str
    documents: tuple[str, ...]
    top_n: int
    tei: bool = False
    return_documents: bool = False
    model: str = ""


def parse_rerank(body: JsonObject) -> RerankRequest:
    query = body.get("query")
    if not isinstance(query, str):
        raise InvalidField("query", f"must be a string, not {kind(query)}")
    tei = "texts" in body
    name = "documents" if body.get("documents") is not None or not tei else "texts"
    documents = body.get(name)
    if not isinstance(documents, list) or not documents:
        raise InvalidField(name, "must be an array of strings, at least one")
    texts = tuple(document_text(item, f"{name}[{at}]") for at, item in enumerate(documents))
    model = body.get("model")
    return RerankRequest(
        query=query,
        documents=texts,
        top_n=integer(body, "top_n", len(texts), 0),
        tei=tei,
        return_documents=boolean(body, "return_text" if tei else "return_documents", False),
        model=model if isinstance(model, str) else "",
    )


def document_text(value: Json, path: str) -> str:
    """A document is text, or (as Cohere and Jina clients send it) an object with a text."""
    text = value.get("text") if isinstance(value, dict) else value
    if not isinstance(text, str):
        raise InvalidField(path, f"must be a string, not {kind(value)}")
    return text


def rerank_body(request: RerankRequest, scores: Sequence[float], tokens: int, model: str) -> bytes:
    """scores: one a document, in the request's order."""
    best = sorted(range(len(scores)), key=lambda index: -scores[index])[: request.top_n]
    results = [result_json(request, index, scores[index]) for index in best]
    if request.tei:
        return orjson.dumps(results)
    return orjson.dumps(
        {
            "model": request.model or model,
            "object": "list",
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
            "results": results,
        }
    )


def result_json(request: RerankRequest, index: int, score: float) -> dict[str, Json]:
    result: dict[str, Json] = {"index": index, "score" if request.tei else "relevance_score": score}
    if request.return_documents:
        text = request.documents[index]
        result.update({"text": text} if request.tei else {"document": {"text": text}})
    return result
