"""Anthropic's Messages. Errors under these paths have Anthropic's shape (`server/failures.py`)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferrox_gguf.server.conversing import converse, count
from ferrox_gguf.server.json_response import json_value
from ferrox_gguf.wire.anthropic import AnthropicAnswer
from ferrox_gguf.wire.anthropic_request import parse_anthropic


async def messages(request: Request) -> Response:
    return await converse(request, parse_anthropic, "msg_", lambda asked, wanted, body: AnthropicAnswer(asked))


async def count_tokens(request: Request) -> Response:
    return json_value({"input_tokens": await count(request, parse_anthropic)})


ROUTES = (
    Route("/v1/messages", messages, methods=["POST"]),
    Route("/v1/messages/count_tokens", count_tokens, methods=["POST"]),
)
