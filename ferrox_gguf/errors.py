"""Everything that can go wrong, as facts. `wire/errors.py` alone turns a fact into a status and a body.

FerroxError
├── RequestError            the client can mend it: nothing was queued
│   ├── InvalidField        one field is wrong, and why
│   ├── PromptTooLong       the prompt does not fit one slot
│   ├── TemplateRefused     the chat template raised, in its own words
│   └── TemplateFailed      the chat template broke on this conversation
├── NotSupported            a correct request for something this model or server cannot do (501)
├── MediaNotSupported       an image, sound or file for a model that reads text
├── InputTooLarge           an input to embed that does not fit one micro-batch
├── BodyTooLarge            more bytes than one request may have (413)
├── NotFound                no such route, model, slot or file
├── Unauthorised            a missing or wrong API key
├── Unavailable             loading, asleep, or the queue is full (503)
├── GenerationFailed        one sequence failed while it ran; the others did not notice
└── StartupError            the process cannot serve: one line on stderr, exit 1
    ├── GgufError           the file is missing, cut or not a GGUF
    └── TemplateBroken      the chat template is not valid Jinja
"""

from __future__ import annotations


class FerroxError(Exception):
    """Base of every error this package raises on purpose."""


class RequestError(FerroxError):
    """The client's request cannot be served as it is (400)."""


class InvalidField(RequestError):
    """One field of the request is wrong. field: its name (or path); reason: what is allowed."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}" if field else reason)
        self.field, self.reason = field, reason


class PromptTooLong(RequestError):
    """The prompt alone does not fit the slot. Nothing was queued."""

    def __init__(self, *, prompt_tokens: int, context_tokens: int) -> None:
        super().__init__(
            f"request ({prompt_tokens} tokens) exceeds the available context size ({context_tokens} tokens), "
            "try increasing it"
        )
        self.prompt_tokens, self.context_tokens = prompt_tokens, context_tokens


class TemplateRefused(RequestError):
    """The chat template raised on this conversation. The message is the template's own."""


class TemplateFailed(RequestError):
    """The chat template broke on this conversation (a missing key, a bound of the sandbox): not its own refusal."""


class NotSupported(FerroxError):
    """A well-formed request for what this model or this server was not started to do (501)."""


class MediaNotSupported(FerroxError):
    """A part of a message that is no text. llama-server answers 500 here, and scripts match on the words.

    medium: image, audio, video, document or file.
    """

    def __init__(self, medium: str) -> None:
        super().__init__(f"{medium} input is not supported: this model reads text only")
        self.medium = medium


class InputTooLarge(FerroxError):
    """An input that must be read at once is longer than a micro-batch. llama-server answers 500, in these words."""

    def __init__(self, *, tokens: int, batch_tokens: int) -> None:
        super().__init__(
            f"input ({tokens} tokens) is too large to process. increase the physical batch size "
            f"(current batch size: {batch_tokens})"
        )
        self.tokens, self.batch_tokens = tokens, batch_tokens


class BodyTooLarge(FerroxError):
    """The request's body has more bytes than are read (413)."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the body is too large: {limit} bytes at most")
        self.limit = limit


class NotFound(FerroxError):
    """There is no such thing here (404)."""


class Unauthorised(FerroxError):
    """The API key is missing or wrong (401)."""


class Unavailable(FerroxError):
    """Not now: the model is loading or the queue is full (503)."""


class GenerationFailed(FerroxError):
    """A running sequence failed on its own (500, or an error event inside its stream)."""


class StartupError(FerroxError):
    """The process cannot serve. str(error) is the one line a person reads before exit status 1."""


class GgufError(StartupError):
    """The file is missing, truncated, or not a GGUF that can be read. path: the file as given."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


class TemplateBroken(StartupError):
    """The chat template cannot be compiled."""
