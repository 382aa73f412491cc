"""Kept streams: read one again, find out which there are, end one."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ferrox_gguf.errors import NotFound, RequestError
from ferrox_gguf.server.json_response import json_value
from ferrox_gguf.server.replay import Replay
from ferrox_gguf.server.state import state_of
from ferrox_gguf.wire.fields import parse_body
from ferrox_gguf.wire.streams import parse_lookup, session_json


async def resume(request: Request) -> Response:
    """`?conv_id=…&from=N`: the bytes from N on, and then those to come."""
    session = state_of(request).streams.get(conversation_of(request))
    if session is None:
        raise NotFound("Stream not found or expired")
    start = request.query_params.get("from") or "0"
    if not (start.isascii() and start.isdecimal()):
        raise RequestError("Invalid 'from' offset")
    session.check(int(start))
    return Replay(session, int(start))


async def lookup(request: Request) -> Response:
    """Only of conversations that the client can name: nobody learns of another's."""
    wanted = parse_lookup(parse_body(await request.body()))
    sessions = state_of(request).streams.known(wanted)
    return json_value(
        [session_json(one.conversation, one.done, one.size, one.began, one.ended) for one in sessions],
    )


async def stop(request: Request) -> Response:
    """Also where there is nothing to stop: the client wants it gone, and it is."""
    state_of(request).streams.drop(conversation_of(request))
    return Response(status_code=204)


def conversation_of(request: Request) -> str:
    """A query parameter, since its name may have slashes."""
    conversation = request.query_params.get("conv_id", "")
    if not conversation:
        raise RequestError("Missing conversation id in path")
    return conversation


ROUTES = (
    Route("/v1/stream", resume, methods=["GET"]),
    Route("/v1/stream", stop, methods=["DELETE"]),
    Route("/v1/streams/lookup", lookup, methods=["POST"]),
)
