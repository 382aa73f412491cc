"""What a browser gets at `/`: the files of `--path`, the page of this server's own, or nothing."""

from __future__ import annotations

import os

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from ferrox_gguf.errors import StartupError
from ferrox_gguf.server.page import page

FRONT = frozenset({"", "/", "/index.html"})
"""The first page, whoever wrote it; "" is a prefix without its slash. No key is needed for it, as in llama-server."""

RETIRE = """\
// A page of llama-server's that once was at this address may still run in this browser. It asks here for its successor.
addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => {
  const retire = async () => {
    await Promise.all((await caches.keys()).map((name) => caches.delete(name)));
    await registration.unregister();
    const pages = await clients.matchAll({ type: "window" });
    pages.forEach((page) => page.navigate(page.url));
  };
  event.waitUntil(retire());
});
"""


async def retire(request: Request) -> Response:
    return Response(RETIRE, media_type="text/javascript", headers={"cache-control": "no-cache"})


async def with_slash(request: Request) -> Response:
    """From `/x/` and not from `/x` does a page find what it names relatively. Relative, for the sake of proxies."""
    return RedirectResponse(f"./{request.url.path.rpartition('/')[2]}/")


def file_routes(folder: str, *, ui: bool) -> list[BaseRoute]:
    """To be asked last. folder: "" for none; its files are served, and not the page, which `ui` asks for.

    A path never leaves the folder, nor does a link inside it. Raises StartupError.
    """
    retiring = Route("/sw.js", retire, methods=["GET"])
    if not folder:
        return [retiring, Route("/", page), Route("/index.html", page)] if ui else [retiring]
    if not os.path.isdir(folder):
        raise StartupError(f"--path: not a directory: {folder}")
    own = os.path.exists(os.path.join(folder, "sw.js"))
    files = Mount("/", StaticFiles(directory=folder, html=True))
    return [files] if own else [retiring, files]
