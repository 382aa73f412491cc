"""The sockets: one for each address, bound before the model is loaded, so that a taken port is known at once."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ferrox_gguf.errors import StartupError
from ferrox_gguf.settings import ServerSettings

BACKLOG = 2048


@dataclass(frozen=True, slots=True)
class Listener:
    """A bound socket and the address as a person types it."""

    socket: socket.socket
    url: str


@contextlib.contextmanager
def listening(settings: ServerSettings) -> Iterator[list[Listener]]:
    """Every address of `--host`, closed on the way out. Raises StartupError naming the address that cannot be had."""
    with contextlib.ExitStack() as opened:
        listeners: list[Listener] = []
        port = settings.port
        for host in settings.hosts:
            listener = bind_unix(host) if host.endswith(".sock") else bind_tcp(host, port, settings)
            opened.callback(close, listener)
            listeners.append(listener)
            # Port 0 is any free one; all addresses then share the first one's.
            port = port or listener.socket.getsockname()[1]
        yield listeners


def bind_tcp(host: str, port: int, settings: ServerSettings) -> Listener:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise StartupError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if settings.reuse_port and hasattr(socket, "SO_REUSEPORT"):
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        raise StartupError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    bound.setblocking(False)
    scheme = "https" if settings.tls.key_file else "http"
    shown = f"[{host}]" if ":" in host else host
    return Listener(bound, f"{scheme}://{shown}:{bound.getsockname()[1]}")


def bind_unix(path: str) -> Listener:
    """A UNIX socket. One that a dead server left behind is replaced; any other file is not."""
    with contextlib.suppress(OSError):
        if Path(path).is_socket() and not answers(path):
            os.unlink(path)
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        bound.bind(path)
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        raise StartupError(f"cannot listen on {path}: {error.strerror or error}") from None
    bound.setblocking(False)
    return Listener(bound, f"unix://{path}")


def answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(path) == 0


def close(listener: Listener) -> None:
    listener.socket.close()
    if listener.url.startswith("unix://"):
        with contextlib.suppress(OSError):
            os.unlink(listener.url.removeprefix("unix://"))
