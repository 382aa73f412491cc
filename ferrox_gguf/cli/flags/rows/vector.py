"""Embeddings and reranking."""

from __future__ import annotations

from dataclasses import replace

from ferrox_gguf.cli.flags.flag import Flag, Group
from ferrox_gguf.cli.flags.values import choice, integer
from ferrox_gguf.settings import Settings


def reranking(settings: Settings, value: object) -> Settings:
    """A reranker is an embedding model whose pooling is a score."""
    on = bool(value)
    pooling = "rank" if on else settings.embedding.pooling
    embedding = replace(settings.embedding, enabled=on, reranking=on, pooling=pooling)
    return replace(settings, embedding=embedding)


ROWS = (
    Flag(
        names=("--embedding", "--embeddings"),
        group=Group.VECTOR,
        env=("LLAMA_ARG_EMBEDDINGS",),
        sets="embedding.enabled",
        help="serve an embedding model: vectors instead of text",
    ),
    Flag(
        names=("--rerank", "--reranking"),
        group=Group.VECTOR,
        env=("LLAMA_ARG_RERANKING",),
        sets=reranking,
        default="off",
        help="serve a reranker: scores of documents for a query",
    ),
    Flag(
        names=("--pooling",),
        group=Group.VECTOR,
        value=choice("none", "mean", "cls", "last", "rank"),
        env=("LLAMA_ARG_POOLING",),
        sets="embedding.pooling",
        default="the model's own",
        help="how the vectors of a text become one",
    ),
    Flag(
        names=("--embd-normalize",),
        group=Group.VECTOR,
        value=integer(-1),
        sets="embedding.normalize",
        default="2, euclidean",
        help="length of the vectors: -1 as they are, 0 largest number 32760, 1 taxicab, 2 euclidean, more: p-norm",
    ),
)
