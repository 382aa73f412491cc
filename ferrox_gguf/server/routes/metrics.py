"""`/metrics`, where `--metrics` opens it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferrox_gguf.errors import NotSupported
from ferrox_gguf.server.spelling import Spelled
from ferrox_gguf.server.state import state_of

TEXT_FORMAT = "text/plain; version=0.0.4"


async def metrics(request: Request) -> Response:
    """Answers also while the model is unloaded, and does not load it."""
    state = state_of(request)
    if not state.settings.server.endpoints.metrics:
        raise NotSupported("This server does not support metrics endpoint. Start it with `--metrics`")
    page = state.meter.page(state.ready.lanes.stats() if state.ready else None)
    response = Response(page, headers={"content-type": TEXT_FORMAT})
    response.raw_headers.append((Spelled(b"Process-Start-Time-Unix"), b"%d" % state.started))
    return response


ROUTES = (Route("/metrics", metrics, methods=["GET"]),)
