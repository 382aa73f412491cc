"""LoRA adapters: `/lora-adapters`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferrox_gguf.server.json_response import json_value
from ferrox_gguf.server.state import ready_of
from ferrox_gguf.wire.adapters import adapters_json, parse_adapters


async def adapters(request: Request) -> Response:
    return json_value(adapters_json(ready_of(request).model.adapters.states))


async def apply_adapters(request: Request) -> Response:
    """For requests from now on; those that run keep the set they began with."""
    ready_of(request).model.adapters.apply(parse_adapters(await request.body()))
    return json_value({"success": True})


ROUTES = (
    Route("/lora-adapters", adapters, methods=["GET"]),
    Route("/lora-adapters", apply_adapters, methods=["POST"]),
)
