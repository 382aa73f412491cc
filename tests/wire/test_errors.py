"""Every error has llama-server's status and body."""

import json

import pytest

from ferrox_gguf.errors import (
    GenerationFailed,
    InvalidField,
    NotFound,
    NotSupported,
    PromptTooLong,
    RequestError,
    TemplateRefused,
    Unauthorised,
    Unavailable,
)
from ferrox_gguf.wire.errors import UNEXPECTED, wire_error


@pytest.mark.parametrize(
    ("error", "status", "kind", "message"),
    [
        (RequestError("m"), 400, "invalid_request_error", "m"),
        (TemplateRefused("m"), 400, "invalid_request_error", "m"),
        (InvalidField("top_p", "r"), 400, "invalid_request_error", "Field 'top_p': r"),
        (InvalidField("", "r"), 400, "invalid_request_error", "r"),
        (Unauthorised("m"), 401, "authentication_error", "m"),
        (NotFound("m"), 404, "not_found_error", "m"),
        (NotSupported("m"), 501, "not_supported_error", "m"),
        (Unavailable("Loading model"), 503, "unavailable_error", "Loading model"),
        (GenerationFailed("m"), 500, "server_error", "m"),
        (KeyError("secret"), 500, "server_error", UNEXPECTED),
    ],
)
def test_an_error_has_its_status_and_type(error, status, kind, message):
    known = wire_error(error)
    assert known.status == status
    assert json.loads(known.body()) == {"error": {"code": status, "message": message, "type": kind}}


def test_a_prompt_that_is_too_long_says_both_lengths():
    known = wire_error(PromptTooLong(prompt_tokens=300, context_tokens=256))
    error = json.loads(known.body())["error"]
    assert (known.status, error["type"]) == (400, "exceed_context_size_error")
    assert (error["n_prompt_tokens"], error["n_ctx"]) == (300, 256)
