"""What every route can see: the settings, and the model once it is there."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from starlette.requests import Request

from ferrox_gguf.engine.snapshot import SlotFile
from ferrox_gguf.engine.stats import EngineStats, SlotSnapshot
from ferrox_gguf.errors import Unavailable
from ferrox_gguf.posture.values import Posture
from ferrox_gguf.request import LoraScale
from ferrox_gguf.runtime.embedding import Embeddings
from ferrox_gguf.runtime.model import ServedModel
from ferrox_gguf.runtime.run import Run
from ferrox_gguf.server.metrics import Meter
from ferrox_gguf.server.streams import Streams
from ferrox_gguf.settings import Settings
from ferrox_gguf.wire.description import ModelDescription
from ferrox_gguf.wire.served import Served

if TYPE_CHECKING:
    from ferrox_gguf.server.sleep import Sleeper


class Lanes(Protocol):
    """The engine's slots and counters. The three that change a slot wait until it is idle."""

    def slots(self) -> Sequence[SlotSnapshot]: ...
    def stats(self) -> EngineStats: ...
    async def save_slot(self, slot: int, path: Path) -> SlotFile: ...
    async def restore_slot(self, slot: int, path: Path) -> SlotFile: ...
    async def erase_slot(self, slot: int) -> int: ...


@dataclass(slots=True)
class Ready:
    """The model and what the dialects need to know of it.

    close: stops its engine and frees it.  lanes: what the engine is doing.
    embeddings: None unless the server was started for them.
    """

    model: ServedModel
    served: Served
    description: ModelDescription
    close: Callable[[], Awaitable[None]]
    lanes: Lanes
    embeddings: Embeddings | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """What a model says of itself: all that is left of it while it is unloaded. lora: applied to everyone."""

    served: Served
    description: ModelDescription
    posture: Posture
    lora: tuple[LoraScale, ...] = ()

    @classmethod
    def of(cls, ready: Ready) -> Card:
        model = ready.model
        return cls(ready.served, ready.description, model.voices.plain.posture, model.adapters.applied)


@dataclass(slots=True)
class ServerState:
    """ready: None while the model loads or sleeps.  asleep: of the model that sleeps, None while there is none.

    sleeper: unloads an idle model; None where nobody asked for that.
    runs: every request that is being answered, by its completion id.
    meter: what was counted, over every engine there has been.  streams: those that outlive their clients.
    """

    settings: Settings
    ready: Ready | None = None
    asleep: Card | None = None
    sleeper: Sleeper | None = None
    closing: bool = False
    runs: dict[str, Run] = field(default_factory=dict)
    started: float = field(default_factory=time.time)
    meter: Meter = field(default_factory=Meter)
    streams: Streams = field(default_factory=Streams)

    @property
    def card(self) -> Card | None:
        """None until the model was loaded for the first time."""
        return Card.of(self.ready) if self.ready else self.asleep

    def close(self) -> None:
        """End every running request: its client is told, and the engine is rid of it."""
        self.closing = True
        for run in list(self.runs.values()):
            run.cancel()
            run.queue.fail(Unavailable("the server is shutting down"))


def state_of(request: Request) -> ServerState:
    state: ServerState = request.app.state.server
    return state


def card_of(request: Request) -> Card:
    """Of the model, loaded or asleep."""
    card = state_of(request).card
    if card is None:
        raise Unavailable("Loading model")
    return card


def ready_of(request: Request) -> Ready:
    """The loaded model. The gate in front of the routes lets nothing through before there is one."""
    ready = state_of(request).ready
    if ready is None:
        raise Unavailable("Loading model")
    return ready
