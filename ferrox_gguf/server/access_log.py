"""One line for each request, when it is over."""

from __future__ import annotations

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger(__name__)

UNWRAPPED = "ferrox_gguf.send"
"""Where the scope keeps the server's own `send`: frames take it, since no layer looks at anything but the start."""

POLLED = frozenset({"/health", "/v1/health", "/models", "/v1/models", "/props", "/slots", "/metrics"})
"""Asked every few seconds by those who watch: a line for each only at a higher verbosity, as in llama-server."""


class AccessLog:
    """method, path, status, seconds to the first and to the last byte, and who asked. Never a query or a body."""

    def __init__(self, app: ASGIApp, prefix: str = "") -> None:
        self._app = app
        self._polled = {prefix + path for path in POLLED}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[UNWRAPPED] = send
        if scope["type"] != "http" or not logger.isEnabledFor(logging.INFO):
            await self._app(scope, receive, send)
            return
        began, status, first = time.perf_counter(), 0, 0.0

        async def noted(message: Message) -> None:
            nonlocal status, first
            if message["type"] == "http.response.start":
                status, first = message["status"], time.perf_counter() - began
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            host = (scope.get("client") or ("unix",))[0]
            took = time.perf_counter() - began
            level = logging.DEBUG if scope["path"] in self._polled and status < 400 else logging.INFO
            # As it came: decoded, a path may have line breaks.
            path = scope["raw_path"].decode("latin-1")
            logger.log(level, "%s %s %d %.3fs/%.3fs %s", scope["method"], path, status, first, took, host)
