"""The process: bind, load in a thread, answer, and leave within two seconds of being asked to.

The sockets listen from the start; until the model is there, every route answers 503 `Loading model`.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import uvicorn

from ferrox_gguf.errors import StartupError
from ferrox_gguf.server.app import create_app
from ferrox_gguf.server.listen import Listener, listening
from ferrox_gguf.server.logs import configure_logging
from ferrox_gguf.server.patience import patient_protocol
from ferrox_gguf.server.ready import load_ready
from ferrox_gguf.server.sleep import watch_over
from ferrox_gguf.server.state import Ready, ServerState
from ferrox_gguf.settings import ServerSettings, Settings

logger = logging.getLogger(__name__)

GRACE_SECONDS = 1.5
"""After this long a stopping process leaves without waiting for a decode; a person waits two seconds at most."""

GARBAGE = (50_000, 20, 20)
"""Thresholds of the collector. What a token makes is freed by its counts, and Python's 700 cost a tenth of all time."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)

Load = Callable[[Settings, asyncio.AbstractEventLoop], Ready]


def run(settings: Settings, load: Load = load_ready) -> int:
    """Serve until a signal; the exit status. Raises StartupError when the process cannot serve.

    load: makes the model ready, blocking, on a thread of its own; its engine hands steps to the loop it is given.
    """
    configure_logging(settings.log)
    gc.set_threshold(*GARBAGE)
    loop = new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        with listening(settings.server) as listeners:
            return loop.run_until_complete(Process(settings, listeners, load).serve())
    finally:
        loop.close()


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where there is one: a third of the time per event."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


class Process:
    """One serving process, from the first accepted connection to the last byte."""

    def __init__(self, settings: Settings, listeners: Sequence[Listener], load: Load) -> None:
        self._settings, self._listeners, self._load = settings, listeners, load
        self._state = ServerState(settings)
        self._server = Server(uvicorn_config(settings.server, self._state))
        self._failure: StartupError | None = None
        self._signals = 0
        self._watch: asyncio.Task[None] | None = None

    async def serve(self) -> int:
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._stop)
        # A daemon: a load that nobody waits for any more must not keep the process.
        threading.Thread(target=self._load_model, args=(loop,), name="load", daemon=True).start()
        await self._server.serve(sockets=[listener.socket for listener in self._listeners])
        if self._failure:
            raise self._failure
        if self._watch:
            self._watch.cancel()
        if self._state.ready:
            await self._state.ready.close()
        elif self._signals:
            # The load is inside llama.cpp, which an orderly exit would pull away from under it.
            leave(0)
        return 0

    def _load_model(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            ready = self._load_to_stay(loop)
        except StartupError as error:
            loop.call_soon_threadsafe(self._fail, error)
        except Exception as error:
            logger.exception("loading failed")
            loop.call_soon_threadsafe(self._fail, StartupError(f"loading failed: {error}"))
        else:
            loop.call_soon_threadsafe(self._announce, ready)

    def _load_to_stay(self, loop: asyncio.AbstractEventLoop) -> Ready:
        """What a model's load leaves behind lives as long as the model: the garbage collector need not look there."""
        gc.unfreeze()
        ready = self._load(self._settings, loop)
        gc.collect()
        gc.freeze()
        return ready

    async def _reload(self) -> Ready:
        """On a thread that ends: OpenMP threads of one that stays would count as busy, and every decode be slower."""
        loop, thread = asyncio.get_running_loop(), ThreadPoolExecutor(1, thread_name_prefix="load")
        try:
            return await loop.run_in_executor(thread, self._load_to_stay, loop)
        finally:
            thread.shutdown(wait=False)

    def _announce(self, ready: Ready) -> None:
        self._state.ready = ready
        self._watch = watch_over(self._state, self._reload)
        for listener in self._listeners:
            logger.info("server is listening on %s", listener.url)

    def _fail(self, error: StartupError) -> None:
        self._failure = error
        self._server.should_exit = True

    def _stop(self) -> None:
        """First signal: end every stream and leave when they are closed, or when the time is up. Second: now."""
        self._signals += 1
        if self._signals > 1:
            leave(1)
        logger.info("stopping: a second signal leaves at once")
        # A thread's timer: it must also fire when the event loop itself is stuck.
        timer = threading.Timer(GRACE_SECONDS, leave, (0,))
        timer.daemon = True
        timer.start()
        self._state.close()
        self._server.should_exit = True


class Server(uvicorn.Server):
    """uvicorn without its own signal handling, which waits for streams as long as they like."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def uvicorn_config(settings: ServerSettings, state: ServerState) -> uvicorn.Config:
    """Raises StartupError for a key or a certificate that is none."""
    config = uvicorn.Config(
        create_app(state),
        http=patient_protocol(settings.timeout),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        headers=[("server", "ferrox_gguf")],
        ssl_keyfile=settings.tls.key_file or None,
        ssl_certfile=settings.tls.cert_file or None,
        # Longer than clients and proxies keep a connection: the side that closes first is never surprised.
        timeout_keep_alive=75,
        timeout_graceful_shutdown=1,
    )
    try:
        config.load()
    except OSError as error:  # ssl.SSLError is one
        raise StartupError(f"--ssl-key-file, --ssl-cert-file: {error.strerror or error}") from None
    return config


def leave(status: int) -> None:
    """Exit without unwinding: llama.cpp may be in the middle of a decode, and nothing here needs saving."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
