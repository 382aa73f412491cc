"""A run becomes an HTTP response: one body, or a stream of server-sent events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ferrox_gguf.errors import FerroxError
from ferrox_gguf.events import Step
from ferrox_gguf.runtime.run import Run
from ferrox_gguf.server.access_log import UNWRAPPED
from ferrox_gguf.server.disconnect import CLIENT_CLOSED_REQUEST, CancelledWithClient, ClientGone
from ferrox_gguf.server.json_response import json_bytes
from ferrox_gguf.server.prompt_log import write_prompts
from ferrox_gguf.server.replay import Replay
from ferrox_gguf.server.state import ready_of, state_of
from ferrox_gguf.server.streams import Session, Streams
from ferrox_gguf.wire.answer import PING, Answer, Asked
from ferrox_gguf.wire.errors import wire_error
from ferrox_gguf.wire.joined import join

logger = logging.getLogger(__name__)

KEEPING: set[asyncio.Task[None]] = set()
"""Streams on their way into a session. The event loop alone would not keep them from being collected."""


async def respond(request: Request, run: Run, asked: Asked, answer: Answer) -> Response:
    """Answer in the way the request asked for; the run is known to the server as long as it lasts."""
    state = state_of(request)
    runs = state.runs
    runs[asked.id] = run
    if folder := state.settings.log.prompts_path:
        await ready_of(request).model.aside(lambda: write_prompts(folder, asked))
    if asked.presentation.stream:
        stream = EventStream(run, asked, answer, forget=lambda: runs.pop(asked.id, None))
        return kept(request, stream, run) or stream
    try:
        with CancelledWithClient(request.receive, run):
            steps = await run.queue.all()
    except ClientGone:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    finally:
        runs.pop(asked.id, None)
    return json_bytes(answer.whole(join(steps, asked.choices)))


def kept(request: Request, stream: EventStream, run: Run) -> Response | None:
    """The stream in a session of its conversation; None where it has none, or none can be had."""
    streams, conversation = state_of(request).streams, request.headers.get("x-conversation-id", "")

    def stop() -> None:
        run.cancel()
        run.queue.fail(ClientGone())

    session = streams.open(conversation, stop) if conversation else None
    if session is None:
        return None
    KEEPING.add(task := asyncio.ensure_future(stream.keep(session, streams)))
    task.add_done_callback(KEEPING.discard)
    return Replay(session)


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
                await self._relay(send, scope.get(UNWRAPPED, send))
        except ClientGone:
            logger.debug("client left a stream")
        finally:
            self._forget()

    async def keep(self, session: Session, streams: Streams) -> None:
        """Say everything to the session, whoever listens there."""
        error: Exception | None = None
        try:
            await self._relay(session.send, session.send)
        except ClientGone:
            logger.debug("a kept stream was stopped")
        except Exception as raised:
            error = raised
            if not isinstance(error, FerroxError):
                logger.exception("a stream failed before it began")
        finally:
            self._run.cancel()
            self._run.queue.close()
            self._forget()
            streams.close(session, error)

    async def _relay(self, start: Send, send: Send) -> None:
        steps = await self._run.queue.next(self._silence)
        await start({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await self._send_all(steps, send)

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
