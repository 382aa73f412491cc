"""Streams that outlive their client: a request with `X-Conversation-Id` runs on, and what it says is kept to be read.

A conversation has one stream at most. What is kept is bounded: the last bytes of each stream, a number of streams, and
a time after the end. Offsets count every byte of the stream from its beginning, comments included.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence

from starlette.types import Message

from ferrox_gguf.errors import RequestError

KEPT_BYTES = 4 * 1024 * 1024
"""Of each stream; llama-server keeps as much, for as long."""

KEPT_SECONDS = 300.0
MOST = 64


class Session:
    """What one stream has said. A `send` for whoever makes it, an iterator for each who reads it.

    stop: ends the request.  began, ended: seconds since 1970; ended is 0 while it runs.
    """

    def __init__(self, conversation: str, stop: Callable[[], None], limit: int = KEPT_BYTES) -> None:
        self.conversation, self.stop = conversation, stop
        self.began, self.ended = int(time.time()), 0
        self._limit, self._kept, self._dropped = limit, bytearray(), 0
        self._started, self._done = False, False
        self._error: Exception | None = None
        self._news = asyncio.Event()

    @property
    def done(self) -> bool:
        return self._done

    @property
    def size(self) -> int:
        """Bytes so far, those that are not kept any more included."""
        return self._dropped + len(self._kept)

    async def send(self, message: Message) -> None:
        """Take a message of the response; never waits."""
        self._started = True
        self._kept += message.get("body", b"")
        overflow = len(self._kept) - self._limit
        if overflow > 0:
            del self._kept[:overflow]
            self._dropped += overflow
        self._tell()

    def finish(self, error: Exception | None = None) -> None:
        """Nothing more comes. error: what prevented the stream before it began."""
        if not self._done:
            self._done, self._error, self.ended = True, error, int(time.time())
            self._tell()

    async def started(self) -> None:
        """Wait for the first byte. Raises what came instead."""
        while not (self._started or self._done):
            await self._news.wait()
        if self._error:
            raise self._error

    async def read(self, offset: int) -> AsyncIterator[bytes]:
        """Everything from there on, until the end. Raises RequestError when it is not kept any more."""
        while True:
            self.check(offset)
            if chunk := bytes(self._kept[offset - self._dropped :]):
                offset += len(chunk)
                yield chunk
            elif self._done:
                return
            else:
                await self._news.wait()

    def check(self, offset: int) -> None:
        """Raises RequestError when the stream cannot be read from there."""
        if offset < self._dropped:
            raise RequestError("Stream offset lost, please restart")

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


class Streams:
    """All sessions, the oldest first."""

    def __init__(self, most: int = MOST, kept_seconds: float = KEPT_SECONDS) -> None:
        self._sessions: dict[str, Session] = {}
        self._most, self._kept_seconds = most, kept_seconds

    def open(self, conversation: str, stop: Callable[[], None]) -> Session | None:
        """A session in place of the conversation's last one, which is stopped; None where there is no room for one."""
        self.drop(conversation)
        if len(self._sessions) >= self._most:
            over = next((name for name, session in self._sessions.items() if session.done), None)
            if over is None:
                return None
            del self._sessions[over]
        session = self._sessions[conversation] = Session(conversation, stop)
        return session

    def get(self, conversation: str) -> Session | None:
        return self._sessions.get(conversation)

    def close(self, session: Session, error: Exception | None = None) -> None:
        """Its request is over. It can be read for some time, unless it never began."""
        session.finish(error)
        if error:
            self._forget(session)
        else:
            asyncio.get_running_loop().call_later(self._kept_seconds, self._forget, session)

    def drop(self, conversation: str) -> None:
        """End and forget it; nothing happens where there is none."""
        session = self._sessions.pop(conversation, None)
        if session:
            session.stop()
            session.finish()

    def known(self, conversations: Sequence[str]) -> list[Session]:
        """Those of the given names, and their variants by model: "name::model"."""
        return [
            session
            for wanted in conversations
            for name, session in self._sessions.items()
            if name == wanted or name.startswith(f"{wanted}::")
        ]

    def _forget(self, session: Session) -> None:
        if self._sessions.get(session.conversation) is session:
            del self._sessions[session.conversation]
