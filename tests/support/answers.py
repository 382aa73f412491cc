"""Requests as answers see them, and frames read back as a client reads them."""

from __future__ import annotations

import json

from ferrox_gguf.events import Finish, StopType, Timings, Usage
from ferrox_gguf.request import Generation
from ferrox_gguf.wire.answer import Asked
from ferrox_gguf.wire.presentation import Presentation
from ferrox_gguf.wire.served import Served


def asked(choices=1, n=1, generation=None, **presentation):
    return Asked(
        id="chatcmpl-1",
        created=5,
        served=Served("m", "b1", end_tokens=(2,)),
        generation=generation or Generation(n=n),
        presentation=Presentation(**presentation),
        prompt_tokens=(3,) * choices,
        prompt_text=lambda choice: f"prompt {choice}",
    )


def finish(stop=StopType.EOS, reasoning=None, **fields):
    usage = Usage(prompt_tokens=3, cached_tokens=1, completion_tokens=4, reasoning_tokens=reasoning)
    return Finish(stop, usage, Timings(1, 2, 10.0, 4, 20.0), slot=2, seed=9, **fields)


def events(frames: bytes) -> list:
    """The data of each event; a final [DONE] as that text."""
    lines = [line for line in frames.decode().split("\n\n") if line]
    assert all(line.startswith("data: ") for line in lines), lines
    return [line[6:] if line == "data: [DONE]" else json.loads(line[6:]) for line in lines]
