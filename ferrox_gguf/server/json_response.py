"""JSON bodies, from bytes that wire/ made or from values."""

from __future__ import annotations

import orjson
from starlette.responses import Response

from ferrox_gguf.json_types import Json

JSON_TYPE = "application/json; charset=utf-8"


def json_bytes(body: bytes) -> Response:
    return Response(body, media_type=JSON_TYPE)


def json_value(value: Json) -> Response:
    return json_bytes(orjson.dumps(value))
