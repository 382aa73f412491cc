"""`--sleep-idle-seconds`: the model is unloaded when nobody has needed it for a while; the next who does waits for it.

What only looks at the server (health, properties, models, metrics) neither wakes it nor keeps it awake.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Iterator

from starlette.requests import Request
from starlette.responses import Response

from ferrox_gguf.errors import StartupError, Unavailable
from ferrox_gguf.server.state import Card, Ready, ServerState, state_of

logger = logging.getLogger(__name__)

Endpoint = Callable[[Request], Awaitable[Response]]


Load = Callable[[], Awaitable[Ready]]
"""Makes the model ready again, without blocking the loop. Raises StartupError when it cannot."""


def watch_over(state: ServerState, load: Load) -> asyncio.Task[None] | None:
    """Let the model sleep, if the settings say so: the task that sees to it."""
    idle_seconds = state.settings.server.sleep_idle
    if idle_seconds < 0:
        return None
    state.sleeper = Sleeper(state, load, idle_seconds)
    return asyncio.ensure_future(state.sleeper.watch())


class Sleeper:
    """Event loop only."""

    def __init__(self, state: ServerState, load: Load, idle_seconds: float) -> None:
        self._state, self._load, self._idle = state, load, idle_seconds
        self._users, self._used = 0, time.monotonic()
        # Going to sleep and waking exclude each other, and those who come in between wait for one load together.
        self._turn = asyncio.Lock()

    async def watch(self) -> None:
        """Put the model to sleep whenever it has been idle long enough; for ever."""
        while True:
            if self._users or self._state.runs:
                self._used = time.monotonic()
            left = self._used + self._idle - time.monotonic()
            if self._state.ready and left <= 0:
                await self._sleep()
            # Runs end unannounced, so a look every second; a whole pause would let the model stay twice as long.
            await asyncio.sleep(min(max(left, 0.01), 1.0) if self._state.ready else 1.0)

    @contextlib.contextmanager
    def using(self) -> Iterator[None]:
        """While entered, the model stays."""
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            self._used = time.monotonic()

    async def wake(self) -> None:
        """The model is there afterwards. Raises Unavailable when it cannot be loaded; the next request tries again."""
        async with self._turn:
            if self._state.ready:
                return
            logger.info("waking up: loading the model")
            try:
                ready = await self._load()
            except StartupError as error:
                logger.exception("the model cannot be loaded again")
                raise Unavailable(f"the model cannot be loaded again: {error}") from None
            self._used = time.monotonic()
            if self._state.asleep:
                ready.model.adapters.apply(self._state.asleep.lora)
            self._state.ready, self._state.asleep = ready, None

    async def _sleep(self) -> None:
        async with self._turn:
            ready = self._state.ready
            if ready is None or self._users or self._state.runs:
                return
            logger.info("nobody asked for %g s: unloading the model", self._idle)
            self._state.meter.bank(ready.lanes.stats())
            self._state.ready, self._state.asleep = None, Card.of(ready)
            await ready.close()


def awake(endpoint: Endpoint) -> Endpoint:
    """The same endpoint, for which the model is loaded first if it sleeps."""

    async def answer(request: Request) -> Response:
        sleeper = state_of(request).sleeper
        if sleeper is None:
            return await endpoint(request)
        with sleeper.using():
            await sleeper.wake()
            return await endpoint(request)

    return answer
