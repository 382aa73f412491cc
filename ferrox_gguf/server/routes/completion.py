"""Raw prompts: llama-server's `/completion` and OpenAI's `/v1/completions`."""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferrox_gguf.json_types import JsonObject
from ferrox_gguf.request import CompletionRequest
from ferrox_gguf.server.answering import respond
from ferrox_gguf.server.state import ready_of
from ferrox_gguf.wire.answer import Answer, Asked, random_id
from ferrox_gguf.wire.completions import TextCompletionAnswer, parse_text_completion
from ferrox_gguf.wire.fields import parse_body
from ferrox_gguf.wire.native import NativeAnswer, parse_completion
from ferrox_gguf.wire.presentation import parse_presentation
from ferrox_gguf.wire.served import Served


async def native_completion(request: Request) -> Response:
    return await complete(request, parse_completion, NativeAnswer)


async def text_completion(request: Request) -> Response:
    return await complete(request, parse_text_completion, TextCompletionAnswer)


async def complete(
    request: Request,
    parse: Callable[[JsonObject, Served], CompletionRequest],
    dialect: Callable[[Asked], Answer],
) -> Response:
    ready, body = ready_of(request), parse_body(await request.body())
    wanted, presentation = parse(body, ready.served), parse_presentation(body, ready.served)
    run = await ready.model.complete(wanted, wants_progress=presentation.return_progress)
    asked = Asked(
        id=random_id("chatcmpl-"),
        created=int(time.time()),
        served=ready.served,
        generation=wanted.generation,
        presentation=presentation,
        prompt_tokens=run.prompt_tokens,
        prompt_text=run.prompt_text,
    )
    return await respond(request, run, asked, dialect(asked))


ROUTES = (
    Route("/completion", native_completion, methods=["POST"]),
    Route("/completions", native_completion, methods=["POST"]),
    Route("/v1/completions", text_completion, methods=["POST"]),
)
