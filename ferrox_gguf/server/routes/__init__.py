"""One module for each kind of endpoint; `ROUTES` is all of them."""

from __future__ import annotations

from starlette.routing import Route

from ferrox_gguf.server.routes import about, chat, completion, messages, responses, slots, text

ROUTES: tuple[Route, ...] = (
    *about.ROUTES,
    *chat.ROUTES,
    *completion.ROUTES,
    *messages.ROUTES,
    *responses.ROUTES,
    *slots.ROUTES,
    *text.ROUTES,
)
