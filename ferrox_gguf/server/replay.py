"""A kept stream as a response: from an offset to what it says next, for as long as this client listens."""

from __future__ import annotations

import contextlib

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ferrox_gguf.errors import FerroxError
from ferrox_gguf.server.disconnect import ClientGone, unless_gone
from ferrox_gguf.server.failures import error_response
from ferrox_gguf.server.streams import Session
from ferrox_gguf.wire.answer import error_frame
from ferrox_gguf.wire.errors import wire_error


class Replay(Response):
    """Leaving it ends nothing but itself."""

    media_type = "text/event-stream"

    def __init__(self, session: Session, offset: int = 0) -> None:
        super().__init__()
        del self.headers["content-length"]
        self.headers["cache-control"] = "no-cache"
        self.headers["x-accel-buffering"] = "no"
        self._session, self._offset = session, offset

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await unless_gone(receive, self._session.started())
        except ClientGone:
            return
        except Exception as error:
            await error_response(error, scope["path"])(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        with contextlib.suppress(ClientGone):
            await unless_gone(receive, self._send_all(send))

    async def _send_all(self, send: Send) -> None:
        last = b""
        try:
            async for chunk in self._session.read(self._offset):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except FerroxError as error:
            last = error_frame(wire_error(error))
        await send({"type": "http.response.body", "body": last, "more_body": False})
