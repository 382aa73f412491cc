"""Raw prompts: llama-server's `/completion` and `/infill`, OpenAI's `/v1/completions`."""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferrox_gguf.json_types import JsonObject
from ferrox_gguf.request import CompletionRequest, Generation
from ferrox_gguf.runtime.run import Run
from ferrox_gguf.server.answering import respond
from ferrox_gguf.server.state import Ready, ready_of
from ferrox_gguf.wire.answer import Answer, Asked, random_id
from ferrox_gguf.wire.completions import TextCompletionAnswer, parse_text_completion
from ferrox_gguf.wire.fields import parse_body
from ferrox_gguf.wire.infill import parse_infill
from ferrox_gguf.wire.native import NativeAnswer, parse_completion
from ferrox_gguf.wire.presentation import Presentation, parse_presentation
from ferrox_gguf.wire.served import Served


async def native_completion(request: Request) -> Response:
    return await complete(request, parse_completion, NativeAnswer)


async def text_completion(request: Request) -> Response:
    return await complete(request, parse_text_completion, TextCompletionAnswer)


async def infill(request: Request) -> Response:
    """Code between two texts. A model that cannot is told so before its request is judged, as in llama-server."""
    ready, body = ready_of(request), parse_body(await request.body())
    ready.model.require_infill()
    wanted, presentation = parse_infill(body, ready.served), parse_presentation(body, ready.served)
    run = await ready.model.infill(wanted, wants_progress=presentation.return_progress)
    asked = asked_of(ready, wanted.generation, run, presentation)
    return await respond(request, run, asked, NativeAnswer(asked))


async def complete(
    request: Request,
    parse: Callable[[JsonObject, Served], CompletionRequest],
    dialect: Callable[[Asked], Answer],
) -> Response:
    ready, body = ready_of(request), parse_body(await request.body())
    wanted, presentation = parse(body, ready.served), parse_presentation(body, ready.served)
    run = await ready.model.complete(wanted, wants_progress=presentation.return_progress)
    asked = asked_of(ready, wanted.generation, run, presentation)
    return await respond(request, run, asked, dialect(asked))


def asked_of(ready: Ready, generation: Generation, run: Run, presentation: Presentation) -> Asked:
    """What the answer to a raw prompt repeats of its request."""
    return Asked(
        id=random_id("chatcmpl-"),
        created=int(time.time()),
        served=ready.served,
        generation=generation,
        presentation=presentation,
        prompt_tokens=run.prompt_tokens,
        prompt_text=run.prompt_text,
    )


ROUTES = (
    Route("/completion", native_completion, methods=["POST"]),
    Route("/completions", native_completion, methods=["POST"]),
    Route("/infill", infill, methods=["POST"]),
    Route("/v1/completions", text_completion, methods=["POST"]),
)
