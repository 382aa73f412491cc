"""What is asked about the server itself: health, properties, models. None of it needs the model to be loaded."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferrox_gguf.errors import NotSupported
from ferrox_gguf.server.json_response import json_bytes, json_value
from ferrox_gguf.server.state import card_of, state_of
from ferrox_gguf.wire.description import models_json, props_json

OK = b'{"status":"ok"}'


async def health(request: Request) -> Response:
    """Only reached once the model is there, or sleeps; the gate answers before."""
    return json_bytes(OK)


async def props(request: Request) -> Response:
    card, state = card_of(request), state_of(request)
    sleeping = state.asleep is not None
    return json_value(props_json(card.served, card.description, card.posture, state.settings, sleeping=sleeping))


async def change_props(request: Request) -> Response:
    """There is nothing to change yet; the route exists for clients that try."""
    if not state_of(request).settings.server.endpoints.props:
        raise NotSupported("This server does not support changing global properties. Start it with `--props`")
    return json_value({"success": True})


async def models(request: Request) -> Response:
    card = card_of(request)
    return json_value(models_json(card.served, card.description, state_of(request).settings))


ROUTES = (
    Route("/health", health, methods=["GET"]),
    Route("/v1/health", health, methods=["GET"]),
    Route("/props", props, methods=["GET"]),
    Route("/props", change_props, methods=["POST"]),
    Route("/models", models, methods=["GET"]),
    Route("/v1/models", models, methods=["GET"]),
)
