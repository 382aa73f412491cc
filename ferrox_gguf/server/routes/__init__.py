"""One module for each kind of endpoint; `ROUTES` is all of them."""

from __future__ import annotations

from starlette.routing import Route

from ferrox_gguf.server.routes import (
    about,
    adapters,
    chat,
    completion,
    embedding,
    messages,
    metrics,
    responses,
    slots,
    streams,
    switched_off,
    text,
)
from ferrox_gguf.server.sleep import awake

WITHOUT_MODEL: tuple[Route, ...] = (*about.ROUTES, *metrics.ROUTES, *streams.ROUTES, *switched_off.ROUTES)
"""These answer while the model is unloaded, and leave it so."""

WITH_MODEL: tuple[Route, ...] = (
    *adapters.ROUTES,
    *chat.ROUTES,
    *completion.ROUTES,
    *embedding.ROUTES,
    *messages.ROUTES,
    *responses.ROUTES,
    *slots.ROUTES,
    *text.ROUTES,
)

ROUTES: tuple[Route, ...] = (
    *WITHOUT_MODEL,
    *(Route(route.path, awake(route.endpoint), methods=sorted(route.methods or ())) for route in WITH_MODEL),
)
