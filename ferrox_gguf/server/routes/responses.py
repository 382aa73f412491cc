"""OpenAI's Responses. Nothing is stored: a client sends the whole conversation each time."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferrox_gguf.json_types import JsonObject
from ferrox_gguf.request import ChatRequest
from ferrox_gguf.server.conversing import converse, count
from ferrox_gguf.server.json_response import json_value
from ferrox_gguf.wire.answer import Asked
from ferrox_gguf.wire.responses import ResponsesAnswer
from ferrox_gguf.wire.responses_request import parse_echo, parse_responses
from ferrox_gguf.wire.tokens import input_tokens_json


async def responses(request: Request) -> Response:
    return await converse(request, parse_responses, "resp_", answer)


def answer(asked: Asked, wanted: ChatRequest, body: JsonObject) -> ResponsesAnswer:
    return ResponsesAnswer(asked, parse_echo(body, wanted))


async def input_tokens(request: Request) -> Response:
    return json_value(input_tokens_json(await count(request, parse_responses)))


ROUTES = (
    Route("/responses", responses, methods=["POST"]),
    Route("/v1/responses", responses, methods=["POST"]),
    Route("/responses/input_tokens", input_tokens, methods=["POST"]),
    Route("/v1/responses/input_tokens", input_tokens, methods=["POST"]),
)
