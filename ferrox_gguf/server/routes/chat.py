"""Conversations: `/v1/chat/completions` and what only looks at one: `/apply-template`, `/…/input_tokens`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.server.conversing import converse, count
from ferrox_gguf.server.json_response import json_value
from ferrox_gguf.server.state import ready_of, state_of
from ferrox_gguf.wire.chat import ChatAnswer
from ferrox_gguf.wire.chat_request import parse_chat
from ferrox_gguf.wire.fields import parse_body, string
from ferrox_gguf.wire.tokens import input_tokens_json


async def chat_completions(request: Request) -> Response:
    return await converse(request, parse_chat, "chatcmpl-", lambda asked, wanted, body: ChatAnswer(asked))


async def apply_template(request: Request) -> Response:
    ready = ready_of(request)
    conversation = await ready.model.render(parse_chat(parse_body(await request.body()), ready.served))
    return json_value({"prompt": conversation.prompt.text})


async def input_tokens(request: Request) -> Response:
    return json_value(input_tokens_json(await count(request, parse_chat)))


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
