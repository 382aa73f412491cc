"""What a browser gets at `/`: the files of `--path`, or nothing."""

from __future__ import annotations

import os

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from ferrox_gguf.errors import StartupError

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


def file_routes(folder: str) -> list[BaseRoute]:
    """To be asked last. folder: "" for none. A path never leaves it, nor does a link inside it."""
    retiring = Route("/sw.js", retire, methods=["GET"])
    if not folder:
        return [retiring]
    if not os.path.isdir(folder):
        raise StartupError(f"--path: not a directory: {folder}")
    own = os.path.exists(os.path.join(folder, "sw.js"))
    files = Mount("/", StaticFiles(directory=folder, html=True))
    return [files] if own else [retiring, files]
