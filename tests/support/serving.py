"""The real HTTP stack on a free port, around any model: the app in a thread of the test's process."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import httpx

from ferrox_gguf.server.listen import listening
from ferrox_gguf.server.serve import Server, new_event_loop, uvicorn_config
from ferrox_gguf.server.sleep import watch_over
from ferrox_gguf.server.state import Ready, ServerState
from ferrox_gguf.settings import ServerSettings, Settings


@contextlib.contextmanager
def serving(make_ready: Callable[[], Ready], settings: Settings | None = None, prefix: str = "") -> Iterator[str]:
    """The server's base URL while it answers. make_ready runs on the event loop, before the first request.

    prefix: in front of its routes, as the settings say.
    """
    bound = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{bound.getsockname()[1]}"
    with running(make_ready, settings or Settings(), [bound]) as failed:
        wait_until_healthy(url + prefix, failed)
        yield url


@contextlib.contextmanager
def serving_on(make_ready: Callable[[], Ready], server: ServerSettings) -> Iterator[list[str]]:
    """The server where its own settings say, on every address of them."""
    with listening(server) as listeners:
        sockets = [listener.socket for listener in listeners]
        with running(make_ready, replace(Settings(), server=server), sockets):
            yield [listener.url for listener in listeners]


@contextlib.contextmanager
def running(
    make_ready: Callable[[], Ready], settings: Settings, sockets: list[socket.socket]
) -> Iterator[list[BaseException]]:
    """In a thread of its own, accepting connections; what went wrong there."""
    state = ServerState(settings)
    server = Server(uvicorn_config(state.settings.server, state))
    failed: list[BaseException] = []

    async def serve() -> None:
        state.ready = make_ready()
        watch = watch_over(state, reload)
        try:
            await server.serve(sockets=sockets)
        finally:
            if watch:
                watch.cancel()
            if state.ready:
                await state.ready.close()

    async def reload() -> Ready:
        return make_ready()

    def main() -> None:
        loop = new_event_loop()
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(serve())
        except BaseException as error:
            failed.append(error)
        finally:
            loop.close()

    thread = threading.Thread(target=main, daemon=True)
    thread.start()
    try:
        while not (server.started or failed):
            time.sleep(0.005)
        yield failed
    finally:
        server.should_exit = True
        thread.join(5)
        assert not failed, failed
        assert not thread.is_alive()


def wait_until_healthy(url: str, failed: list[BaseException]) -> None:
    # Reading certificates, which nobody here needs, would be most of a short test.
    with httpx.Client(verify=False) as client:
        for _ in range(500):
            assert not failed, failed
            with contextlib.suppress(httpx.TransportError):
                if client.get(url + "/health").status_code == 200:
                    return
            time.sleep(0.01)
    raise AssertionError("the server did not become healthy")
