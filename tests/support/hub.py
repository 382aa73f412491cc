"""A stand-in for the model hub: one process-local HTTP server with the few routes that downloads use."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """files: "user/name" → file name → bytes.  token: what a private hub wants.  cut_after: bytes of each first answer.

    seen: (method, path, Range header) of every request.
    """

    files: dict[str, dict[str, bytes]]
    token: str = ""
    cut_after: int | None = None
    address: str = ""
    seen: list[tuple[str, str, str | None]] = field(default_factory=list)
    cut: set[str] = field(default_factory=set)


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """The hub, listening on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self, hub)

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def answer(handler: BaseHTTPRequestHandler, hub: Hub) -> None:
    path = unquote(urlsplit(handler.path).path).strip("/")
    hub.seen.append((handler.command, path, handler.headers.get("Range")))
    if hub.token and handler.headers.get("Authorization") != f"Bearer {hub.token}":
        send(handler, 401, b"", {"X-Error-Code": "RepoNotFound"})
    elif path.startswith("api/models/"):
        repository = "/".join(path.split("/")[2:4])
        if repository not in hub.files:
            send(handler, 404, b"", {"X-Error-Code": "RepoNotFound"})
            return
        tree = [
            {"type": "file", "path": name, "size": len(content), "oid": digest(content)}
            for name, content in hub.files[repository].items()
        ]
        send(handler, 200, json.dumps(tree).encode(), {"Content-Type": "application/json"})
    else:
        repository, _, rest = path.partition("/resolve/")
        name = rest.partition("/")[2]
        content = hub.files.get(repository, {}).get(name)
        if content is None:
            send(handler, 404, b"", {"X-Error-Code": "EntryNotFound"})
        else:
            send_file(handler, hub, path, content)


def send_file(handler: BaseHTTPRequestHandler, hub: Hub, path: str, content: bytes) -> None:
    headers = {"ETag": f'"{digest(content)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
    wanted, start = handler.headers.get("Range"), 0
    if wanted and handler.headers.get("If-Range", headers["ETag"]) == headers["ETag"]:
        start = int(wanted.removeprefix("bytes=").split("-")[0])
        headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
    cut = hub.cut_after if handler.command == "GET" and path not in hub.cut else None
    if cut is not None:
        hub.cut.add(path)
    send(handler, 206 if "Content-Range" in headers else 200, content[start:], headers, cut)


def send(
    handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: dict[str, str], cut: int | None = None
) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.send_header("Connection", "close")
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(body[:cut])
    handler.close_connection = True


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
