"""What the dialects must know of the model that answers. `runtime/` makes one value when the model is loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ferrox_gguf.request import Generation


@dataclass(frozen=True, slots=True)
class Served:
    """Names, defaults and the vocabulary's reach.

    name: the model as answers call it.  fingerprint: build identity, starts with "b" as llama.cpp's does.
    defaults: what a request gets where it says nothing.  tokenise: plain text to ids, no BOS, markers not parsed.
    end_tokens: every end-of-generation id.  n_parallel: slots, which bounds `n`.
    verbose: every answer carries `__verbose`.
    """

    name: str
    fingerprint: str
    defaults: Generation = field(default_factory=Generation)
    tokenise: Callable[[str], Sequence[int]] = lambda text: ()
    n_vocab: int = 0
    end_tokens: tuple[int, ...] = ()
    n_parallel: int = 1
    sse_ping_interval: int = 30
    verbose: bool = False
