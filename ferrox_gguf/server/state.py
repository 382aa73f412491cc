"""What every route can see: the settings, and the model once it is there."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from starlette.requests import Request

from ferrox_gguf.engine.stats import SlotSnapshot
from ferrox_gguf.errors import Unavailable
from ferrox_gguf.runtime.embedding import Embeddings
from ferrox_gguf.runtime.model import ServedModel
from ferrox_gguf.runtime.run import Run
from ferrox_gguf.settings import Settings
from ferrox_gguf.wire.description import ModelDescription
from ferrox_gguf.wire.served import Served


@dataclass(slots=True)
class Ready:
    """The model and what the dialects need to know of it.

    close: stops its engine and frees it.  slots: what each lane of the engine is doing.
    embeddings: None unless the server was started for them.
    """

    model: ServedModel
    served: Served
    description: ModelDescription
    close: Callable[[], Awaitable[None]]
    slots: Callable[[], Sequence[SlotSnapshot]]
    embeddings: Embeddings | None = None


@dataclass(slots=True)
class ServerState:
    """ready: None while the model loads.  runs: every request that is being answered, by its completion id."""

    settings: Settings
    ready: Ready | None = None
    closing: bool = False
    runs: dict[str, Run] = field(default_factory=dict)
    started: float = field(default_factory=time.time)

    def close(self) -> None:
        """End every running request: its client is told, and the engine is rid of it."""
        self.closing = True
        for run in list(self.runs.values()):
            run.cancel()
            run.queue.fail(Unavailable("the server is shutting down"))


def state_of(request: Request) -> ServerState:
    state: ServerState = request.app.state.server
    return state


def ready_of(request: Request) -> Ready:
    """The loaded model. The gate in front of the routes lets nothing through before there is one."""
    ready = state_of(request).ready
    if ready is None:
        raise Unavailable("Loading model")
    return ready
