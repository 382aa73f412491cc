"""A conversation in any dialect: read, rendered, answered or only counted."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from ferrox_gguf.json_types import JsonObject
from ferrox_gguf.request import ChatRequest
from ferrox_gguf.runtime.chat import Conversation
from ferrox_gguf.runtime.run import Run
from ferrox_gguf.server.answering import respond
from ferrox_gguf.server.state import Ready, ready_of
from ferrox_gguf.wire.answer import Answer, Asked, random_id
from ferrox_gguf.wire.fields import parse_body
from ferrox_gguf.wire.presentation import Presentation, parse_presentation
from ferrox_gguf.wire.served import Served

Parse: TypeAlias = Callable[[JsonObject, Served], ChatRequest]
Dialect: TypeAlias = Callable[[Asked, ChatRequest, JsonObject], Answer]
"""Makes the answer of one request, of which it may repeat what it likes."""


async def converse(request: Request, parse: Parse, prefix: str, dialect: Dialect) -> Response:
    """Answer a conversation. prefix: what the answer's id begins with."""
    ready, body = ready_of(request), parse_body(await request.body())
    wanted, presentation = parse(body, ready.served), parse_presentation(body, ready.served)
    conversation = await ready.model.render(wanted)
    run = await ready.model.chat(conversation, wants_progress=presentation.return_progress, echo=presentation.echo)
    asked = asked_of(ready, conversation, run, presentation, random_id(prefix))
    return await respond(request, run, asked, dialect(asked, wanted, body))


async def count(request: Request, parse: Parse) -> int:
    """The prompt's tokens, exactly as the same request would have them if it ran."""
    ready = ready_of(request)
    conversation = await ready.model.render(parse(parse_body(await request.body()), ready.served))
    return len(await ready.model.aside(lambda: ready.model.tokens(conversation)))


def asked_of(ready: Ready, conversation: Conversation, run: Run, presentation: Presentation, name: str) -> Asked:
    """What any chat dialect's answer repeats of its request."""
    return Asked(
        id=name,
        created=int(time.time()),
        served=ready.served,
        generation=conversation.request.generation,
        presentation=presentation,
        prompt_tokens=run.prompt_tokens,
        prompt_text=run.prompt_text,
        chat_format=conversation.voice.posture.tool_format or "Content-only",
        reasoning_format=conversation.display.value,
        generation_prompt=conversation.prompt.added,
    )
