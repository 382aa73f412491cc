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
    text,
)

ROUTES: tuple[Route, ...] = (
    *about.ROUTES,
    *adapters.ROUTES,
    *chat.ROUTES,
    *completion.ROUTES,
    *embedding.ROUTES,
    *messages.ROUTES,
    *metrics.ROUTES,
    *responses.ROUTES,
    *slots.ROUTES,
    *text.ROUTES,
)
