"""How long a body may be: as long as llama-server's, 100 MiB."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ferrox_gguf.errors import BodyTooLarge

LIMIT = 100 * 1024 * 1024


class BodyLimit:
    """Counts what comes; whoever reads the body gets BodyTooLarge, at once when the client said how much it will be."""

    def __init__(self, app: ASGIApp, limit: int = LIMIT) -> None:
        self._app, self._limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        promised = Headers(scope=scope).get("content-length", "")
        total = int(promised) if promised.isdecimal() else 0
        counted = 0

        async def counting() -> Message:
            nonlocal counted
            if total > self._limit:
                raise BodyTooLarge(self._limit)
            message = await receive()
            counted += len(message.get("body", b""))
            if counted > self._limit:
                raise BodyTooLarge(self._limit)
            return message

        await self._app(scope, counting, send)
