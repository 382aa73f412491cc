"""Facts to status and body: llama-server's error objects, word for word where a client may match on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from ferrox_gguf.errors import (
    BodyTooLarge,
    GenerationFailed,
    InputTooLarge,
    InvalidField,
    MediaNotSupported,
    NotFound,
    NotSupported,
    PromptTooLong,
    RequestError,
    Unauthorised,
    Unavailable,
)
from ferrox_gguf.json_types import Json


@dataclass(frozen=True, slots=True)
class WireError:
    """An error as clients see it. extra: fields beside code, message and type."""

    status: int
    type: str
    message: str
    extra: Mapping[str, Json]

    def fields(self) -> dict[str, Json]:
        return {"code": self.status, "message": self.message, "type": self.type, **self.extra}

    def body(self) -> bytes:
        return orjson.dumps({"error": self.fields()})


KINDS: tuple[tuple[type[Exception], int, str], ...] = (
    (RequestError, 400, "invalid_request_error"),
    (Unauthorised, 401, "authentication_error"),
    (NotFound, 404, "not_found_error"),
    (BodyTooLarge, 413, "invalid_request_error"),
    (MediaNotSupported, 500, "server_error"),
    (InputTooLarge, 500, "server_error"),
    (NotSupported, 501, "not_supported_error"),
    (Unavailable, 503, "unavailable_error"),
    (GenerationFailed, 500, "server_error"),
)

UNEXPECTED = "internal error: the server's log has the details"
"""What a client learns of a bug: nothing of our insides."""


def wire_error(error: Exception) -> WireError:
    """The status and body of any exception that reached an edge."""
    if isinstance(error, PromptTooLong):
        sizes: dict[str, Json] = {"n_prompt_tokens": error.prompt_tokens, "n_ctx": error.context_tokens}
        return WireError(400, "exceed_context_size_error", str(error), sizes)
    if isinstance(error, InvalidField) and error.field:
        return WireError(400, "invalid_request_error", f"Field '{error.field}': {error.reason}", {})
    for kind, status, name in KINDS:
        if isinstance(error, kind):
            return WireError(status, name, str(error), {})
    return WireError(500, "server_error", UNEXPECTED, {})
