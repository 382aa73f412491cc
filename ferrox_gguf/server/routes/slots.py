"""The lanes of the engine: `/slots`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferrox_gguf.errors import NotSupported, Unavailable
from ferrox_gguf.server.json_response import json_value
from ferrox_gguf.server.state import ready_of, state_of
from ferrox_gguf.wire.slots import slots_json


async def slots(request: Request) -> Response:
    """`?fail_on_no_slot=1` answers 503 when all are busy, for load balancers."""
    if not state_of(request).settings.server.endpoints.slots:
        raise NotSupported("This server does not support slots endpoint. Start it with `--slots`")
    snapshots = ready_of(request).slots()
    if request.query_params.get("fail_on_no_slot") and all(slot.is_processing for slot in snapshots):
        raise Unavailable("no slot available")
    return json_value(slots_json(snapshots))


ROUTES = (Route("/slots", slots, methods=["GET"]),)
