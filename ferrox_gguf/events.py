"""What a generation says while it runs: the only language between `output/`, `runtime/` and `wire/`.

Order within one choice: any number of deltas in the order the model wrote them, then exactly one Finish (or Failed).
A dialect's non-streamed answer is these events, joined.

All of them are values and never changed. Those that are made once a token are not declared frozen: making a frozen one
costs four times as much, an eighth of all that a token costs on its way out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, Union


@dataclass(slots=True)
class ReasoningDelta:
    """More of the thought. text: never empty."""

    text: str


@dataclass(slots=True)
class ContentDelta:
    """More of the answer. text: never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A call began: its name is complete and offered. index: 0, 1, … in the message.  id: the model's own, or None."""

    index: int
    name: str
    id: str | None = None


@dataclass(slots=True)
class ToolCallArguments:
    """The next fragment of a started call's compact JSON arguments. fragment: never empty."""

    index: int
    fragment: str


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """A started call is over. whole: its arguments are complete (not cut by a limit or a stop)."""

    index: int
    whole: bool = True


OutputEvent: TypeAlias = Union[ReasoningDelta, ContentDelta, ToolCallStart, ToolCallArguments, ToolCallEnd]


class StopType(Enum):
    """Why generation ended, in llama-server's words."""

    NONE = "none"
    EOS = "eos"
    LIMIT = "limit"
    WORD = "word"


@dataclass(slots=True)
class Timings:
    """Milliseconds and counts of one sequence, as llama-server's `timings` reports them.

    cache_tokens: prompt tokens that were not read, because their cells were kept or shared.
    prompt_tokens: prompt tokens that were read.  predicted_tokens: tokens generated (the ending token included).
    """

    cache_tokens: int = 0
    prompt_tokens: int = 0
    prompt_ms: float = 0.0
    predicted_tokens: int = 0
    predicted_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Usage:
    """Exact token counts of one choice. reasoning_tokens: None when the model has no reasoning format (C6)."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One token and how likely it was. logprob: natural logarithm (or a probability, when post_sampling_probs)."""

    token: int
    text_bytes: bytes
    logprob: float


@dataclass(frozen=True, slots=True)
class TokenInfo:
    """One generated token as the client may ask to see it. top: alternatives, best first."""

    chosen: Candidate
    top: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of a choice. stopping_word: the stop string, or "".  called: at least one whole call was made.

    slot: the KV lane that ran it, -1 when it never had one.  seed: its sampler's, None when it never had one.
    """

    stop_type: StopType
    usage: Usage
    timings: Timings
    stopping_word: str = ""
    called: bool = False
    truncated: bool = False
    slot: int = -1
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the prompt has been read (return_progress). time_ms: since the prompt was begun."""

    total: int
    cache: int
    processed: int
    time_ms: float


@dataclass(slots=True)
class Step:
    """What one hand-off from the engine made of one choice: zero or more output events and the tokens behind them.

    tokens: ids generated in this hand-off; infos: aligned with tokens when n_probs was asked, else empty.
    slot: the KV lane that runs the choice, -1 before it has one.
    """

    choice: int
    events: tuple[OutputEvent, ...] = ()
    tokens: tuple[int, ...] = ()
    infos: tuple[TokenInfo, ...] = field(default=())
    progress: Progress | None = None
    timings: Timings | None = None
    finish: Finish | None = None
    slot: int = -1
