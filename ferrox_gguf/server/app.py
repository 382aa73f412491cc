"""The ASGI application: routes behind the gate, and errors turned into bodies."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from ferrox_gguf.errors import FerroxError
from ferrox_gguf.server.access_log import AccessLog
from ferrox_gguf.server.body_limit import BodyLimit
from ferrox_gguf.server.failures import Failures, ferrox_error, http_error
from ferrox_gguf.server.files import file_routes, with_slash
from ferrox_gguf.server.gate import Gate
from ferrox_gguf.server.prediction import prediction_routes
from ferrox_gguf.server.request_id import RequestIds
from ferrox_gguf.server.routes import ROUTES
from ferrox_gguf.server.state import ServerState
from ferrox_gguf.settings import ServerSettings


def create_app(state: ServerState) -> ASGIApp:
    """The whole application around one state; the model may arrive in it later. Raises StartupError."""
    routes = routes_of(state.settings.server)
    app = Starlette(routes=routes, exception_handlers={HTTPException: http_error, FerroxError: ferrox_error})
    app.router.redirect_slashes = False
    app.state.server = state
    return AccessLog(RequestIds(Failures(Gate(BodyLimit(app), state))), state.settings.server.api_prefix)


def routes_of(settings: ServerSettings) -> list[BaseRoute]:
    """Everything that answers, below the prefix if there is one. The server's own routes win over files."""
    prefix = settings.api_prefix
    prediction = prediction_routes(settings.prediction, ROUTES, prefix) if settings.prediction else []
    routes: list[BaseRoute] = [*ROUTES, *prediction, *file_routes(settings.static_path, ui=settings.ui)]
    if not prefix:
        return routes
    return [Route(prefix, with_slash), Mount(prefix, routes=routes)]
