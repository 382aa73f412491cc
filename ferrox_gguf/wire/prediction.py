"""Google Cloud's prediction protocol: several requests of any kind in one body, their answers in one list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from ferrox_gguf.errors import RequestError
from ferrox_gguf.json_types import Json, JsonObject

FORMAT = "@requestFormat"
MOST = 128


@dataclass(frozen=True, slots=True)
class Instance:
    """One request of several. path: of the route that it is for.  body: what that route gets."""

    path: str
    body: bytes


def parse_instances(body: JsonObject) -> list[Json]:
    instances = body.get("instances")
    if not isinstance(instances, list):
        raise RequestError("request body must include an array field named instances")
    if len(instances) > MOST:
        raise RequestError(f"instances array exceeds maximum size of {MOST}")
    return instances


def parse_instance(instance: Json, paths: Mapping[str, str]) -> Instance:
    """paths: what a format may be called, and the route it means. Nothing is streamed, whatever the instance says."""
    if not isinstance(instance, dict):
        raise RequestError("each instance must be a JSON object")
    name = instance.get(FORMAT)
    if not isinstance(name, str):
        raise RequestError(f"each instance must include a string {FORMAT}")
    if name not in paths:
        raise RequestError(f"no handler registered for {FORMAT}: {name}")
    body = {key: value for key, value in instance.items() if key not in (FORMAT, "stream")}
    return Instance(paths[name], orjson.dumps(body))


def format_name(path: str) -> str:
    """`/v1/chat/completions` is `chatCompletions`."""
    first, *others = path.removeprefix("/v1").strip("/").replace("-", "/").replace("_", "/").split("/")
    return first + "".join(word.capitalize() for word in others)


def prediction_json(body: bytes) -> Json:
    """An answer as it stands in the list: its JSON, or else its text."""
    try:
        answer: Json = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body.decode(errors="replace")
    return answer
