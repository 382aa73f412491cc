"""The ASGI application: routes behind the gate, and errors turned into bodies."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp

from ferrox_gguf.errors import FerroxError
from ferrox_gguf.server.access_log import AccessLog
from ferrox_gguf.server.body_limit import BodyLimit
from ferrox_gguf.server.failures import Failures, ferrox_error, http_error
from ferrox_gguf.server.gate import Gate
from ferrox_gguf.server.request_id import RequestIds
from ferrox_gguf.server.routes import ROUTES
from ferrox_gguf.server.state import ServerState


def create_app(state: ServerState) -> ASGIApp:
    """The whole application around one state; the model may arrive in it later."""
    prefix = state.settings.server.api_prefix
    routes: list[BaseRoute] = [Mount(prefix, routes=list(ROUTES))] if prefix else list(ROUTES)
    app = Starlette(routes=routes, exception_handlers={HTTPException: http_error, FerroxError: ferrox_error})
    app.router.redirect_slashes = False
    app.state.server = state
    return AccessLog(RequestIds(Failures(Gate(BodyLimit(app), state))))
