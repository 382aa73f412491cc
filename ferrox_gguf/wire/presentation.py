"""What a client wants to see of its answer. Nothing below wire/ knows any of this."""

from __future__ import annotations

from dataclasses import dataclass

from ferrox_gguf.json_types import JsonObject
from ferrox_gguf.wire.fields import boolean, integer, mapping, strings
from ferrox_gguf.wire.served import Served


@dataclass(frozen=True, slots=True)
class Presentation:
    """stream: events as they come, not a body.  response_fields: () for all.  ping: seconds of silence, -1 never.

    echo: the answer begins with the message that it continues.
    """

    stream: bool = False
    include_usage: bool = False
    timings_per_token: bool = False
    return_tokens: bool = False
    return_progress: bool = False
    response_fields: tuple[str, ...] = ()
    verbose: bool = False
    ping: int = 30
    echo: bool = False


def parse_presentation(body: JsonObject, served: Served) -> Presentation:
    stream = boolean(body, "stream", False)
    return Presentation(
        stream=stream,
        include_usage=boolean(mapping(body, "stream_options"), "include_usage", False),
        timings_per_token=boolean(body, "timings_per_token", False),
        return_tokens=boolean(body, "return_tokens", False),
        return_progress=stream and boolean(body, "return_progress", False),
        response_fields=strings(body, "response_fields") or (),
        verbose=boolean(body, "verbose", served.verbose),
        ping=integer(body, "sse_ping_interval", served.sse_ping_interval, -1),
        echo=boolean(body, "echo", False),
    )
