"""A run becomes an HTTP response: one body, or a stream of server-sent events."""

from __future__ import annotations

import logging
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ferrox_gguf.events import Step
from ferrox_gguf.runtime.run import Run
from ferrox_gguf.server.access_log import UNWRAPPED
from ferrox_gguf.server.disconnect import CLIENT_CLOSED_REQUEST, CancelledWithClient, ClientGone
from ferrox_gguf.server.json_response import json_bytes
from ferrox_gguf.server.state import state_of
from ferrox_gguf.wire.answer import PING, Answer, Asked
from ferrox_gguf.wire.errors import wire_error
from ferrox_gguf.wire.joined import join

logger = logging.getLogger(__name__)


async def respond(request: Request, run: Run, asked: Asked, answer: Answer) -> Response:
    """Answer in the way the request asked for; the run is known to the server as long as it lasts."""
    runs = state_of(request).runs
    runs[asked.id] = run
    if asked.presentation.stream:
        return EventStream(run, asked, answer, forget=lambda: runs.pop(asked.id, None))
    try:
        with CancelledWithClient(request.receive, run):
            steps = await run.queue.all()
    except ClientGone:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    finally:
        runs.pop(asked.id, None)
    return json_bytes(answer.whole(join(steps, asked.choices)))


class EventStream(Response):
    """Sends steps as they come. A slow client holds up nobody: its steps wait in the run's queue, merged.

    An error before the first byte is an ordinary error response; after it, the stream's last event.
    """

    media_type = "text/event-stream"

    def __init__(self, run: Run, asked: Asked, answer: Answer, forget: Callable[[], object]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self.headers["cache-control"] = "no-cache"
        self.headers["x-accel-buffering"] = "no"
        self._run, self._answer, self._forget = run, answer, forget
        ping = asked.presentation.ping
        self._silence = float(ping) if ping > 0 else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with CancelledWithClient(receive, self._run):
                steps = await self._run.queue.next(self._silence)
                await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
                await self._send_all(steps, scope.get(UNWRAPPED, send))
        except ClientGone:
            logger.debug("client left a stream")
        finally:
            self._forget()

    async def _send_all(self, steps: list[Step], send: Send) -> None:
        queue, frames = self._run.queue, self._answer.frames
        try:
            while True:
                body = b"".join([frames(step) for step in steps]) if steps else PING
                if queue.over:
                    break
                if body:
                    await send({"type": "http.response.body", "body": body, "more_body": True})
                steps = await queue.next(self._silence)
            body += self._answer.done()
        except ClientGone:
            raise
        except Exception as error:
            known = wire_error(error)
            if known.status == 500:
                logger.exception("a stream failed")
            body = self._answer.failed(known)
        await send({"type": "http.response.body", "body": body, "more_body": False})
