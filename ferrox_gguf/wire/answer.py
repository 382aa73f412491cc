"""What every dialect's answer is: frames for a stream, one body for the rest, and what both repeat of the request."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import orjson

from ferrox_gguf.events import Step, Usage
from ferrox_gguf.json_types import Json
from ferrox_gguf.request import Generation
from ferrox_gguf.wire.errors import WireError
from ferrox_gguf.wire.joined import Joined
from ferrox_gguf.wire.presentation import Presentation
from ferrox_gguf.wire.served import Served

LETTERS = string.ascii_letters + string.digits
DONE = b"data: [DONE]\n\n"
PING = b":\n\n"
"""A comment line: it keeps proxies and clients from giving up on a silent stream, and no parser sees it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as its answer tells it again.

    prompt_tokens: of each choice's prompt.  prompt_text: a choice's prompt as text, made only when somebody looks.
    chat_format, reasoning_format, generation_prompt: for `generation_settings`; a raw prompt has none.
    """

    id: str
    created: int
    served: Served
    generation: Generation
    presentation: Presentation
    prompt_tokens: tuple[int, ...]
    prompt_text: Callable[[int], str]
    chat_format: str = "Content-only"
    reasoning_format: str = "none"
    generation_prompt: str = ""

    @property
    def choices(self) -> int:
        return len(self.prompt_tokens)


class Answer(Protocol):
    """One dialect's answer to one request.

    frames: what a step looks like on the wire, possibly nothing.  done: after the last step.
    failed: the stream's last words when it breaks after its first byte.  whole: the body when nothing is streamed.
    """

    def frames(self, step: Step) -> bytes: ...
    def done(self) -> bytes: ...
    def failed(self, error: WireError) -> bytes: ...
    def whole(self, joined: Sequence[Joined]) -> bytes: ...


def random_id(prefix: str, length: int = 32) -> str:
    return prefix + "".join(random.choices(LETTERS, k=length))  # noqa: S311  # names, not secrets


def data_frame(value: Json) -> bytes:
    return b"data: " + orjson.dumps(value) + b"\n\n"


def error_frame(error: WireError) -> bytes:
    return data_frame({"error": error.fields()})


def total_usage(usages: Sequence[Usage], n: int) -> dict[str, Json]:
    """OpenAI's `usage` over all choices. usages: choice by choice, n for each prompt, whose tokens count once."""
    prompt = sum(usage.prompt_tokens for usage in usages[::n])
    completion = sum(usage.completion_tokens for usage in usages)
    reasoning = [usage.reasoning_tokens for usage in usages if usage.reasoning_tokens is not None]
    total: dict[str, Json] = {
        "completion_tokens": completion,
        "prompt_tokens": prompt,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": sum(usage.cached_tokens for usage in usages[::n])},
    }
    if reasoning:
        total["completion_tokens_details"] = {"reasoning_tokens": sum(reasoning)}
    return total
