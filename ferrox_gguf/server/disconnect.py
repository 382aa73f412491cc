"""A client that leaves takes its request with it, streamed or not, also while its prompt is still being read."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, TypeVar

from starlette.types import Receive

from ferrox_gguf.runtime.run import Run

CLIENT_CLOSED_REQUEST = 499
"""nginx's word for it; only the access log ever sees this."""

Found = TypeVar("Found")


class ClientGone(Exception):
    """Nobody is listening any more. There is nobody to tell, either."""


class CancelledWithClient:
    """While entered, a disconnect cancels the run and ends its queue with ClientGone. Leaving cancels what still runs.

    receive: the request's, after its body was read; the next message can only be the disconnect.
    """

    def __init__(self, receive: Receive, run: Run) -> None:
        self._receive, self._run = receive, run
        self._watch: asyncio.Task[None] | None = None

    def __enter__(self) -> None:
        self._watch = asyncio.ensure_future(self._wait())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watch:
            self._watch.cancel()
        self._run.cancel()
        self._run.queue.close()

    async def _wait(self) -> None:
        await disconnected(self._receive)
        self._run.cancel()
        self._run.queue.fail(ClientGone())


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, Found]) -> Found:
    """The result of the work. It is cancelled, and ClientGone raised, when the client leaves first."""
    task, watch = asyncio.ensure_future(work), asyncio.ensure_future(disconnected(receive))
    try:
        await asyncio.wait((task, watch), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone
        return task.result()
    finally:
        task.cancel()
        watch.cancel()


async def disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
