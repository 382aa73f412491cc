"""What llama-server can be started with and this server cannot: its own answer for when it was not."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferrox_gguf.server.json_response import json_value


async def switched_off(request: Request) -> Response:
    error = {"message": "this feature is disabled", "type": "feature_disabled"}
    answer = json_value({"error": dict(error)})
    answer.status_code = 403
    return answer


ROUTES = (
    Route("/tools", switched_off, methods=["GET", "POST"]),
    Route("/cors-proxy", switched_off, methods=["GET", "POST"]),
)
