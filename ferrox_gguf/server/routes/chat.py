"""Conversations: `/v1/chat/completions` and what only looks at one: `/apply-template`, `/…/input_tokens`."""

from __future__ import annotations

import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.runtime.chat import Conversation
from ferrox_gguf.runtime.run import Run
from ferrox_gguf.server.answering import respond
from ferrox_gguf.server.json_response import json_value
from ferrox_gguf.server.state import Ready, ready_of, state_of
from ferrox_gguf.wire.answer import Asked, random_id
from ferrox_gguf.wire.chat import ChatAnswer
from ferrox_gguf.wire.chat_request import parse_chat
from ferrox_gguf.wire.fields import parse_body, string
from ferrox_gguf.wire.presentation import Presentation, parse_presentation


async def chat_completions(request: Request) -> Response:
    ready, body = ready_of(request), parse_body(await request.body())
    wanted, presentation = parse_chat(body, ready.served), parse_presentation(body, ready.served)
    conversation = await ready.model.render(wanted)
    run = await ready.model.chat(conversation, wants_progress=presentation.return_progress, echo=presentation.echo)
    asked = asked_of(ready, conversation, run, presentation, random_id("chatcmpl-"))
    return await respond(request, run, asked, ChatAnswer(asked))


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


async def apply_template(request: Request) -> Response:
    ready = ready_of(request)
    conversation = await ready.model.render(parse_chat(parse_body(await request.body()), ready.served))
    return json_value({"prompt": conversation.prompt.text})


async def input_tokens(request: Request) -> Response:
    ready = ready_of(request)
    conversation = await ready.model.render(parse_chat(parse_body(await request.body()), ready.served))
    tokens = await ready.model.aside(lambda: ready.model.tokens(conversation))
    return json_value({"input_tokens": len(tokens)})


async def control(request: Request) -> Response:
    """Acts on a running completion by its id; `reasoning_end` closes its thought at the next token."""
    body = parse_body(await request.body())
    name, action = string(body, "id"), string(body, "action")
    if not name:
        raise InvalidField("id", "missing completion id")
    if action != "reasoning_end":
        raise InvalidField("action", 'unknown control action; there is "reasoning_end"')
    run = state_of(request).runs.get(name)
    if run is None:
        return json_value({"success": False, "message": "no active completion for this id"})
    if not run.end_thought():
        return json_value({"success": False, "message": "reasoning control not enabled for this completion"})
    return json_value({"success": True})


ROUTES = (
    Route("/chat/completions", chat_completions, methods=["POST"]),
    Route("/v1/chat/completions", chat_completions, methods=["POST"]),
    Route("/chat/completions/input_tokens", input_tokens, methods=["POST"]),
    Route("/v1/chat/completions/input_tokens", input_tokens, methods=["POST"]),
    Route("/v1/chat/completions/control", control, methods=["POST"]),
    Route("/apply-template", apply_template, methods=["POST"]),
)
