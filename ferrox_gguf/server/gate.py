"""What stands in front of every route, in llama-server's order: CORS, the model's readiness, the API key."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ferrox_gguf.errors import FerroxError, Unauthorised, Unavailable
from ferrox_gguf.server.failures import error_response
from ferrox_gguf.server.files import FRONT
from ferrox_gguf.server.spelling import Spelled
from ferrox_gguf.server.state import ServerState
from ferrox_gguf.settings import CorsSettings

PUBLIC = FRONT | {"/health", "/v1/health", "/sw.js"}
"""Below the prefix, if there is one."""

BEARER = "Bearer "


class Gate:
    """Lets a request through, or answers it at the door."""

    def __init__(self, app: ASGIApp, state: ServerState) -> None:
        self._app, self._state = app, state
        server = state.settings.server
        self._cors = server.cors
        self._keys = tuple(key.encode() for key in server.api_keys)
        prediction = server.prediction
        # Who checks for Google Cloud whether the server lives has no key.
        asked_of_health = {prediction.health_route} if prediction and prediction.health_route else set()
        self._public = {server.api_prefix + path for path in PUBLIC | asked_of_health}
        # A browser is shown a page while the model loads, and the page says so; a probe at the same path is not.
        front = FRONT if server.ui or server.static_path else frozenset()
        self._early = {server.api_prefix + path for path in front - asked_of_health}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        send = self._with_origin(send, headers.get("origin"))
        if scope["method"] == "OPTIONS":
            await send({"type": "http.response.start", "status": 200, "headers": preflight_headers(self._cors)})
            await send({"type": "http.response.body", "body": b""})
        elif refusal := self._refusal(scope["path"], headers):
            await error_response(refusal, scope["path"])(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, path: str, headers: Headers) -> FerroxError | None:
        if self._state.ready is None and self._state.asleep is None and path not in self._early:
            return Unavailable("Loading model")
        if self._state.closing:
            return Unavailable("the server is shutting down")
        if self._keys and path not in self._public and not admits(self._keys, given_key(headers)):
            return Unauthorised("Invalid API Key")
        return None

    def _with_origin(self, send: Send, origin: str | None) -> Send:
        allowed = allowed_origin(self._cors, origin)
        if allowed is None:
            return send
        value = allowed.encode("latin-1")

        async def send_with_origin(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (Spelled(b"Access-Control-Allow-Origin"), value)]
                message = {**message, "headers": headers}
            await send(message)

        return send_with_origin


def given_key(headers: Headers) -> str:
    """Authorization first, then X-Api-Key (Anthropic's clients); "Bearer " is optional in both."""
    return (headers.get("authorization") or headers.get("x-api-key", "")).removeprefix(BEARER)


def admits(keys: Sequence[bytes], given: str) -> bool:
    """Does any key match? Every key is compared in full, so that time tells nothing about any of them."""
    candidate = given.encode()
    matches = [hmac.compare_digest(key, candidate) for key in keys]
    return any(matches)


def allowed_origin(cors: CorsSettings, origin: str | None) -> str | None:
    """The value of Access-Control-Allow-Origin. With credentials, "*" must be spelled as the origin itself."""
    if cors.origins == ("*",):
        return (origin or "") if cors.credentials else "*"
    if cors.origins == ("localhost",):
        return origin if origin and is_local(origin) else None
    return ", ".join(cors.origins)


def is_local(origin: str) -> bool:
    try:
        return urlsplit(origin).hostname in ("localhost", "127.0.0.1", "::1")
    except ValueError:
        return False


def preflight_headers(cors: CorsSettings) -> list[tuple[bytes, bytes]]:
    """What a browser asks before it sends. Spelled as llama-server spells them: scripts compare letter by letter."""
    return [
        (Spelled(b"Access-Control-Allow-Credentials"), b"true" if cors.credentials else b"false"),
        (Spelled(b"Access-Control-Allow-Methods"), cors.methods.encode("latin-1")),
        (Spelled(b"Access-Control-Allow-Headers"), cors.headers.encode("latin-1")),
        (b"Content-Type", b"text/html"),
        (b"Content-Length", b"0"),
    ]
