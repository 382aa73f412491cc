"""Text to tokens and back: `/tokenize`, `/detokenize`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferrox_gguf.runtime.prompt import prompt_tokens
from ferrox_gguf.server.json_response import json_value
from ferrox_gguf.server.state import ready_of
from ferrox_gguf.wire.fields import parse_body
from ferrox_gguf.wire.tokens import parse_detokenise, parse_tokenise, tokens_json


async def tokenize(request: Request) -> Response:
    model, wanted = ready_of(request).model, parse_tokenise(parse_body(await request.body()))
    tokens = await model.aside(
        lambda: prompt_tokens(
            wanted.pieces, model.vocabulary, add_special=wanted.add_special, parse_special=wanted.parse_special
        )
    )
    return json_value(tokens_json(tokens, model.vocabulary.piece if wanted.with_pieces else None))


async def detokenize(request: Request) -> Response:
    model = ready_of(request).model
    tokens = prompt_tokens(parse_detokenise(parse_body(await request.body())), model.vocabulary, add_special=False)
    return json_value({"content": model.text(tokens)})


ROUTES = (
    Route("/tokenize", tokenize, methods=["POST"]),
    Route("/detokenize", detokenize, methods=["POST"]),
)
