"""What the engine has done since it started: counters for `/metrics`, and what each slot is doing for `/slots`.

Counters are written by the engine thread alone; snapshots are read from any thread and may be one step old.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, fields
from typing import Any

from ferrox_gguf.engine.contract import SequenceRequest

STEP_BUCKETS_MS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0)
"""Upper borders of the step-time histogram; one more bucket takes the rest."""


@dataclass(slots=True)
class Counters:
    """Running totals. prompt_ms / generated_ms: decode time of steps, split by their tokens of each kind.

    longest: the most tokens that one sequence has had.
    """

    prompt_tokens: int = 0
    cached_tokens: int = 0
    shared_tokens: int = 0
    evicted_tokens: int = 0
    generated_tokens: int = 0
    prompt_ms: float = 0.0
    generated_ms: float = 0.0
    decode_calls: int = 0
    busy_slots_total: int = 0
    submitted: int = 0
    finished: int = 0
    cancelled: int = 0
    failed: int = 0
    preempted: int = 0
    ended_for_room: int = 0
    context_shifts: int = 0
    restored_tokens: int = 0
    longest: int = 0
    step_ms_total: float = 0.0
    step_counts: list[int] = field(default_factory=lambda: [0] * (len(STEP_BUCKETS_MS) + 1))

    def observe_step(self, decoding: int, prompt_tokens: int, rows: int, elapsed_ms: float) -> None:
        """One decode has run; its time goes to prompts and answers by their tokens."""
        tokens = decoding + prompt_tokens
        self.decode_calls += 1
        self.busy_slots_total += rows
        self.prompt_ms += elapsed_ms * prompt_tokens / tokens
        self.generated_ms += elapsed_ms * decoding / tokens
        self.step_ms_total += elapsed_ms
        self.step_counts[bisect_left(STEP_BUCKETS_MS, elapsed_ms)] += 1


@dataclass(frozen=True, slots=True)
class EngineStats:
    """A snapshot. Fields up to step_counts as in Counters; the rest is the state now, in slots, sequences and cells."""

    prompt_tokens: int
    cached_tokens: int
    shared_tokens: int
    evicted_tokens: int
    generated_tokens: int
    prompt_ms: float
    generated_ms: float
    decode_calls: int
    busy_slots_total: int
    submitted: int
    finished: int
    cancelled: int
    failed: int
    preempted: int
    ended_for_room: int
    context_shifts: int
    restored_tokens: int
    longest: int
    step_ms_total: float
    step_counts: tuple[int, ...]
    slots_processing: int
    slots_total: int
    queued: int
    cells_used: int
    cells_total: int

    @classmethod
    def of(cls, counters: Counters, **state: int) -> EngineStats:
        values: dict[str, Any] = {f.name: getattr(counters, f.name) for f in fields(counters)}
        values["step_counts"] = tuple(counters.step_counts)
        values.update(state)
        return cls(**values)


@dataclass(frozen=True, slots=True)
class SlotSnapshot:
    """One slot, for GET /slots. request: the sequence it runs, or the last that it ran, or None.

    n_tokens: tokens whose cells it holds.  n_cached / n_read: of the prompt, reused and evaluated.
    n_decoded: tokens generated.  n_remaining: still allowed, -1 no limit.
    """

    id: int
    n_ctx: int
    is_processing: bool
    handle: int = -1
    request: SequenceRequest | None = None
    seed: int = 0
    n_tokens: int = 0
    n_prompt: int = 0
    n_cached: int = 0
    n_read: int = 0
    n_decoded: int = 0
    n_remaining: int = -1
