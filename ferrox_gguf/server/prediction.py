"""Google Cloud's prediction routes: every instance goes through the application as a request of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Scope

from ferrox_gguf.errors import RequestError, StartupError
from ferrox_gguf.json_types import Json
from ferrox_gguf.server.disconnect import CLIENT_CLOSED_REQUEST, ClientGone, unless_gone
from ferrox_gguf.server.json_response import json_value
from ferrox_gguf.server.routes.about import health
from ferrox_gguf.settings import PredictionSettings
from ferrox_gguf.wire.errors import wire_error
from ferrox_gguf.wire.fields import parse_body
from ferrox_gguf.wire.prediction import Instance, format_name, parse_instance, parse_instances, prediction_json

COPIED = ("asgi", "http_version", "scheme", "server", "client")
"""What a request inside another has of its scope."""


def prediction_routes(settings: PredictionSettings, routes: Sequence[Route], prefix: str) -> list[Route]:
    """Raises StartupError when the predict route is one that exists."""
    if any(route.path == settings.predict_route for route in routes):
        raise StartupError(f"AIP_PREDICT_ROUTE={settings.predict_route} is a route of the server's own")
    predictions = Predictions(routes, prefix)
    made = [Route(settings.predict_route, predictions.answer, methods=["POST"])]
    if settings.health_route:
        made.append(Route(settings.health_route, health, methods=["GET"]))
    return made


class Predictions:
    """prefix: what stands in front of every route."""

    def __init__(self, routes: Sequence[Route], prefix: str) -> None:
        self._prefix = prefix
        self._methods = {route.path: "POST" for route in routes if "POST" in (route.methods or ())}
        # Where a path can be read and changed, it is read.
        self._methods |= {route.path: "GET" for route in routes if "GET" in (route.methods or ())}
        named = [path for path in self._methods if "{" not in path]
        # OpenAI's route where a name could mean two: /v1/completions rather than /completions.
        named.sort(key=lambda path: path.startswith("/v1/"))
        self._paths = {format_name(path): path for path in named} | {path: path for path in named}

    async def answer(self, request: Request) -> Response:
        """All instances at once; one that fails is an error in its place and harms no other."""
        instances = parse_instances(parse_body(await request.body()))
        asked = asyncio.gather(*(self._predict(instance, request) for instance in instances))

        async def all_of_them() -> list[Json]:
            return await asked

        try:
            return json_value({"predictions": await unless_gone(request.receive, all_of_them())})
        except ClientGone:
            return Response(status_code=CLIENT_CLOSED_REQUEST)

    async def _predict(self, instance: Json, request: Request) -> Json:
        try:
            wanted = parse_instance(instance, self._paths)
        except RequestError as error:
            return {"error": wire_error(error).fields()}
        return prediction_json(await ask(request.app, self._scope(wanted, request), wanted.body))

    def _scope(self, wanted: Instance, request: Request) -> Scope:
        path = self._prefix + wanted.path
        return {
            **{name: request.scope[name] for name in COPIED if name in request.scope},
            "type": "http",
            "method": self._methods[wanted.path],
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(wanted.body))],
        }


async def ask(app: Starlette, scope: Scope, body: bytes) -> bytes:
    """The body of the application's answer. Being cancelled is how its client leaves."""
    received, answer = False, bytearray()

    async def receive() -> Message:
        nonlocal received
        if received:
            await asyncio.Event().wait()
        received = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        answer.extend(message.get("body", b""))

    await app(scope, receive, send)
    return bytes(answer) or orjson.dumps(None)
