"""Vectors and scores: `/v1/embeddings`, `/embeddings`, `/rerank` and their other names."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferrox_gguf.errors import NotSupported, RequestError
from ferrox_gguf.runtime.embedding import Embeddings
from ferrox_gguf.server.disconnect import CLIENT_CLOSED_REQUEST, ClientGone, unless_gone
from ferrox_gguf.server.json_response import json_bytes
from ferrox_gguf.server.state import ready_of, state_of
from ferrox_gguf.wire.embeddings import EmbeddingRequest, native_body, openai_body, parse_embeddings, shaped
from ferrox_gguf.wire.fields import parse_body
from ferrox_gguf.wire.rerank import parse_rerank, rerank_body


async def openai_embeddings(request: Request) -> Response:
    """OpenAI's, unless the client used llama-server's own field."""
    embeddings = embeddings_of(request)
    if not embeddings.pooled:
        # OpenAI's answer has one vector for each input.
        raise RequestError("Pooling type 'none' is not OAI compatible. Please use a different pooling type")
    wanted = await wanted_of(request)
    return await embed(request, embeddings, wanted, native=wanted.native)


async def native_embeddings(request: Request) -> Response:
    return await embed(request, embeddings_of(request), await wanted_of(request), native=True)


async def wanted_of(request: Request) -> EmbeddingRequest:
    normalize = state_of(request).settings.embedding.normalize
    return parse_embeddings(parse_body(await request.body()), normalize=normalize)


async def embed(request: Request, embeddings: Embeddings, wanted: EmbeddingRequest, *, native: bool) -> Response:
    ready = ready_of(request)
    inputs = await ready.model.aside(lambda: embeddings.inputs(wanted.inputs))
    try:
        found = await unless_gone(request.receive, embeddings.read(inputs))
    except ClientGone:
        return Response(status_code=CLIENT_CLOSED_REQUEST)

    def body() -> bytes:
        results = [shaped(vectors, wanted, pooled=embeddings.pooled) for vectors in found]
        if native:
            return native_body(results)
        return openai_body(results, wanted, ready.served.name, sum(map(len, inputs)))

    return json_bytes(await ready.model.aside(body))


async def rerank(request: Request) -> Response:
    ready = ready_of(request)
    embeddings = ready.embeddings
    if embeddings is None or not embeddings.ranks:
        raise NotSupported("This server does not support reranking. Start it with `--reranking`")
    wanted = parse_rerank(parse_body(await request.body()))
    inputs = await ready.model.aside(lambda: embeddings.pairs(wanted.query, wanted.documents))
    try:
        found = await unless_gone(request.receive, embeddings.read(inputs))
    except ClientGone:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    scores = [float(vectors[0, 0]) for vectors in found]
    return json_bytes(rerank_body(wanted, scores, sum(map(len, inputs)), ready.served.name))


def embeddings_of(request: Request) -> Embeddings:
    embeddings = ready_of(request).embeddings
    if embeddings is None:
        raise NotSupported("This server does not support embeddings. Start it with `--embeddings`")
    return embeddings


ROUTES = (
    Route("/v1/embeddings", openai_embeddings, methods=["POST"]),
    Route("/embeddings", native_embeddings, methods=["POST"]),
    Route("/embedding", native_embeddings, methods=["POST"]),
    *[Route(path, rerank, methods=["POST"]) for path in ("/rerank", "/reranking", "/v1/rerank", "/v1/reranking")],
)
