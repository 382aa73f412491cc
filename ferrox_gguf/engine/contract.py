"""What the engine takes and gives. `runtime/` builds requests and sinks; the loop calls sinks on the event loop.

The engine knows token ids only: no text, no wire, no posture. Where a rule needs text between two tokens (a constraint,
a reasoning budget, an inline stop) the runtime passes a `Guide`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol, TypeAlias, Union

from ferrox_gguf.events import StopType, Timings
from ferrox_gguf.request import RANDOM_SEED, LoraScale, Sampling


class Guide(Protocol):
    """Runs inline in the engine thread, between two tokens of one sequence; must be quick (well under 1 ms).

    forced(): ids that must come next, whatever the logits say (a reasoning budget's closer); () for none.
    allows(token): may this sampled token stand here?  mask(n_vocab): a bitmask of the allowed ids (little-endian uint32
    words, as llguidance fills them) used to draw again after a refusal, or None when everything is allowed.
    accept(token): the token that was taken, forced ones included.  finished: generation must end now.
    An exception from a guide ends its own sequence with Failed, and no other.
    """

    @property
    def finished(self) -> bool: ...
    def forced(self) -> Sequence[int]: ...
    def allows(self, token: int) -> bool: ...
    def mask(self) -> bytes | None: ...
    def accept(self, token: int) -> None: ...


@dataclass(frozen=True, slots=True)
class SequenceRequest:
    """One generation to run. tokens: the whole prompt, at least one id, shorter than the slot.

    max_tokens: -1 until the slot is full.  n_probs: alternatives wanted per token.
    stop_tokens: end generation like EOS.  guide: see above, owned by the engine thread after submit.
    group: sequences of one request (n > 1) share it; their common prompt is read once.
    """

    tokens: tuple[int, ...]
    sampling: Sampling
    max_tokens: int = -1
    n_probs: int = 0
    post_sampling_probs: bool = False
    cache_prompt: bool = True
    id_slot: int = -1
    n_keep: int = 0
    n_discard: int = 0
    n_cache_reuse: int = 0
    t_max_predict_ms: int = 0
    lora: tuple[LoraScale, ...] = ()
    guide: Guide | None = None
    group: str = ""
    wants_progress: bool = False
    stop_tokens: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Probability:
    """One candidate: id and natural log-probability (a probability when post_sampling_probs)."""

    token: int
    logprob: float


class Sampled(NamedTuple):
    """One token of one sequence. chosen / top: only when n_probs > 0.

    A named tuple: made for every token, in a third of the time.
    """

    token: int
    chosen: Probability | None = None
    top: tuple[Probability, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptProgress:
    """The prompt was read this far: cache tokens reused, processed tokens evaluated or reused, of total."""

    total: int
    cache: int
    processed: int
    time_ms: float


@dataclass(slots=True)
class Tokens:
    """Tokens sampled since the last hand-off, oldest first, and the timings so far.

    slot, seed: as in Ended, for a sequence that is cancelled at a stop string and so never sees its Ended.
    """

    sampled: tuple[Sampled, ...]
    timings: Timings
    slot: int = -1
    seed: int = RANDOM_SEED


@dataclass(frozen=True, slots=True)
class Ended:
    """The sequence is over and its slot is free. eos: the ending token was sampled (it is not in `sampled`)."""

    stop: StopType
    slot: int
    seed: int
    timings: Timings
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """The sequence ended by a fault of its own. error: for the client, a FerroxError."""

    error: Exception


class EngineState(Enum):
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"


EngineEvent: TypeAlias = Union[PromptProgress, Tokens, Ended, Failed]

Sink: TypeAlias = Callable[[EngineEvent], None]
"""Called on the event loop's thread: at most one Tokens a step, and at the end exactly one Ended or Failed (which may
follow the last Tokens in the same step). After `cancel` nothing follows."""


class Engine(Protocol):
    """`engine/loop.py` is the real one; tests use a scripted one.

    submit: queues (never blocks); raises Unavailable when the bounded queue is full, PromptTooLong when it cannot fit.
    cancel: idempotent; the slot is free within one step, and no event follows.
    """

    def submit(self, request: SequenceRequest, sink: Sink) -> int: ...
    def cancel(self, handle: int) -> None: ...
