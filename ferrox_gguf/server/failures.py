"""Errors on their way out: every one becomes the JSON object of its dialect, and a bug leaves its trace in the log."""

from __future__ import annotations

import logging

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ferrox_gguf.errors import FerroxError, NotFound
from ferrox_gguf.server.json_response import JSON_TYPE
from ferrox_gguf.wire.anthropic import anthropic_error
from ferrox_gguf.wire.errors import wire_error

logger = logging.getLogger(__name__)


MESSAGES = "/v1/messages"
"""Whoever asks for this, or for anything below it, with whatever prefix, is a client of Anthropic's."""


def error_response(error: Exception, path: str) -> Response:
    """path: what was asked for; it decides whose shape the body has."""
    known = wire_error(error)
    body = orjson.dumps(anthropic_error(known)) if MESSAGES in path else known.body()
    return Response(body, known.status, media_type=JSON_TYPE)


async def ferrox_error(request: Request, error: Exception) -> Response:
    """An error raised on purpose: its own status."""
    assert isinstance(error, FerroxError)
    return error_response(error, request.url.path)


async def http_error(request: Request, error: Exception) -> Response:
    """The router knows no such path, or not with this method; llama-server tells neither apart."""
    assert isinstance(error, HTTPException)
    if error.status_code in (404, 405):
        return error_response(NotFound("File Not Found"), request.url.path)
    return Response(error.detail, error.status_code, error.headers)


class Failures:
    """The outermost layer: what nobody expected is logged in full and answered with 500, if it still can be."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            logger.debug("a client left in the middle of its request")
        except Exception as error:
            logger.exception("%s %s failed", scope.get("method", ""), scope.get("path", ""))
            if not begun and scope["type"] == "http":
                await error_response(error, scope["path"])(scope, receive, send)
