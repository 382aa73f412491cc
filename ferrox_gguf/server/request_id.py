"""`X-Request-Id`: the client's own or a new one, returned with the answer and written in every line of the log."""

from __future__ import annotations

import re
import uuid
from contextvars import ContextVar

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request that this task answers; "" outside of one."""

ACCEPTED = re.compile(r"[!-~]{1,128}")
"""Anything else could write lines of its own into the log."""


class RequestIds:
    """One id for each request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        own = given if ACCEPTED.fullmatch(given) else uuid.uuid4().hex
        # Never reset: the task is the request's own, and the access log's line comes after us.
        request_id.set(own)

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (b"X-Request-Id", own.encode("ascii"))]
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, named)
