"""`--timeout`: how long a connection may be silent in the middle of a request, or leave its answer unread.

At the level of the protocol, so that a token on its way pays nothing for it. Between two requests uvicorn's own five
seconds count, which are llama-server's too.
"""

from __future__ import annotations

import asyncio
import logging

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

logger = logging.getLogger(__name__)

HEADER_LIMIT = 64 * 1024
"""Bytes of one request's header fields; llhttp would read on for ever."""


def patient_protocol(seconds: float) -> type[asyncio.Protocol]:
    """The protocol of every connection of one server."""

    class Patient(PatientProtocol):
        patience = seconds

    return Patient


class PatientProtocol(HttpToolsProtocol):
    """patience: seconds. Two clocks: one while the client owes us bytes, one while it owes us room for ours."""

    patience: float

    def __init__(self, config: Config, *others: object, **named: object) -> None:
        super().__init__(config, *others, **named)  # type: ignore[arg-type]
        self._reading: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._unfinished, self._header_bytes = True, 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._reading = self._clock()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_reading_clock()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._stop_reading_clock()
        super().data_received(data)
        if self._unfinished and not self.transport.is_closing():
            self._reading = self._clock()

    def on_message_begin(self) -> None:
        self._unfinished, self._header_bytes = True, 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > HEADER_LIMIT:
            # The parser hands it on as a request that is no HTTP, which is answered 400.
            raise ValueError("the header fields are too long")
        super().on_header(name, value)

    def on_message_complete(self) -> None:
        self._unfinished = False
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._writing = self._writing or self._clock()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._writing:
            self._writing.cancel()
            self._writing = None

    def _stop_reading_clock(self) -> None:
        if self._reading:
            self._reading.cancel()
            self._reading = None

    def _clock(self) -> asyncio.TimerHandle:
        return self.loop.call_later(self.patience, self._give_up)

    def _give_up(self) -> None:
        logger.debug("a connection was silent for %g s", self.patience)
        self.transport.abort()
