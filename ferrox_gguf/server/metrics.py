"""`/metrics`: what the engine has counted, as Prometheus reads it. llama-server's names come first, then our own.

Counters go on where they stood when the model is unloaded and loaded again. llama-server's two rates are averages over
the time between two scrapes; whoever scrapes from two places uses the counters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from ferrox_gguf.engine.stats import STEP_BUCKETS_MS, Counters, EngineStats

LONGEST = b"llamacpp:n_tokens_max"


class Meter:
    """Remembers what engines counted that are gone, and what the last scrape saw."""

    def __init__(self) -> None:
        self._past: EngineStats | None = None
        self._seen: EngineStats | None = None

    def bank(self, stats: EngineStats) -> None:
        """This engine goes, idle; its counts stay, and so does what it last held."""
        self._past = replace(self._total(stats), slots_processing=0, queued=0)

    def page(self, stats: EngineStats | None) -> bytes:
        """One scrape in the text format 0.0.4. stats: None while no engine runs."""
        now = self._total(stats) if stats else self._past
        if now is None:
            return b""
        seen, self._seen = self._seen or zeroed(now), now
        registry = CollectorRegistry()
        registry.register(Page(now, seen))
        # Where llama-server's name of a counter does not end as a counter's should, prometheus-client would mend it.
        return generate_latest(registry).replace(LONGEST + b"_total", LONGEST)

    def _total(self, stats: EngineStats) -> EngineStats:
        return added(self._past, stats) if self._past else stats


class Page(Collector):
    """One scrape. seen: what the one before it saw."""

    def __init__(self, now: EngineStats, seen: EngineStats) -> None:
        self._now, self._seen = now, seen

    def collect(self) -> Iterator[Metric]:
        yield from theirs(self._now, self._seen)
        yield from ours(self._now)


def theirs(now: EngineStats, seen: EngineStats) -> Iterator[Metric]:
    """Every name that llama-server has. It drafts, we do not: those counters stay 0."""
    prompt_ms, generated_ms = now.prompt_ms - seen.prompt_ms, now.generated_ms - seen.generated_ms
    for name, value, meaning in (
        ("prompt_tokens", now.prompt_tokens, "Prompt tokens that were read, cached ones not counted"),
        ("prompt_tokens_cached", now.cached_tokens, "Prompt tokens that were found in the cache"),
        ("prompt_seconds", now.prompt_ms / 1000, "Seconds spent on reading prompts"),
        ("tokens_predicted", now.generated_tokens, "Tokens that were generated"),
        ("tokens_predicted_seconds", now.generated_ms / 1000, "Seconds spent on generating"),
        ("n_decode", now.decode_calls, "Calls of llama_decode"),
        ("n_tokens_max", now.longest, "Tokens of the longest sequence so far, prompt and answer"),
        ("spec_decode_num_draft_tokens", 0, "Tokens that were drafted"),
        ("spec_decode_num_accepted_tokens", 0, "Drafted tokens that were accepted"),
        ("spec_decode_num_drafts", 0, "Drafts that were verified"),
    ):
        yield CounterMetricFamily(f"llamacpp:{name}", meaning, value=value)
    for name, value, meaning in (
        ("prompt_tokens_seconds", rate(now.prompt_tokens - seen.prompt_tokens, prompt_ms), "Prompt tokens a second"),
        (
            "predicted_tokens_seconds",
            rate(now.generated_tokens - seen.generated_tokens, generated_ms),
            "Generated tokens a second",
        ),
        ("requests_processing", now.slots_processing, "Sequences that run"),
        ("requests_deferred", now.queued, "Sequences that wait for a slot"),
        ("n_busy_slots_per_decode", now.busy_slots_total / max(1, now.decode_calls), "Slots that share one step"),
    ):
        yield GaugeMetricFamily(f"llamacpp:{name}", meaning, value=value)


def ours(now: EngineStats) -> Iterator[Metric]:
    """What llama-server does not count."""
    for name, value, meaning in (
        ("sequences_submitted", now.submitted, "Sequences that were accepted"),
        ("sequences_finished", now.finished, "Sequences that ended by themselves or at a limit"),
        ("sequences_cancelled", now.cancelled, "Sequences whose client left, or that a stop string ended"),
        ("sequences_failed", now.failed, "Sequences that ended in an error"),
        ("sequences_preempted", now.preempted, "Times a sequence gave its cells to an older one, to go on later"),
        ("sequences_ended_for_room", now.ended_for_room, "Sequences that ended because the cache was full"),
        ("prompt_tokens_shared", now.shared_tokens, "Prompt tokens taken from a slot that another sequence uses"),
        ("prompt_tokens_restored", now.restored_tokens, "Prompt tokens brought back from memory"),
        ("tokens_evicted", now.evicted_tokens, "Tokens whose cells another sequence needed"),
        ("context_shifts", now.context_shifts, "Times the middle of a full context was dropped"),
    ):
        yield CounterMetricFamily(f"ferrox:{name}", meaning, value=value)
    for name, value, meaning in (
        ("queue_depth", now.queued, "Sequences that wait for a slot"),
        ("slots", now.slots_total, "Sequences that can run at once"),
        ("cells_used", now.cells_used, "Cells of the cache that held a token after the last step"),
        ("cells", now.cells_total, "Cells of the cache"),
    ):
        yield GaugeMetricFamily(f"ferrox:{name}", meaning, value=value)
    borders = [f"{border / 1000:g}" for border in STEP_BUCKETS_MS] + ["+Inf"]
    yield HistogramMetricFamily(
        "ferrox:step_seconds",
        "Time of one step of the engine",
        buckets=list(zip(borders, accumulate(now.step_counts), strict=True)),
        sum_value=now.step_ms_total / 1000,
    )


def rate(tokens: float, milliseconds: float) -> float:
    """A second. 0 where nothing happened."""
    return 1000 * tokens / milliseconds if milliseconds > 0 else 0.0


def added(past: EngineStats, stats: EngineStats) -> EngineStats:
    """Both engines' counts, and the state of the second."""
    both = {f.name: getattr(past, f.name) + getattr(stats, f.name) for f in fields(Counters)}
    both["step_counts"] = tuple(map(sum, zip(past.step_counts, stats.step_counts, strict=True)))
    both["longest"] = max(past.longest, stats.longest)
    return replace(stats, **both)


def zeroed(stats: EngineStats) -> EngineStats:
    """What a scrape before the first request would have seen."""
    return EngineStats.of(
        Counters(),
        slots_processing=0,
        slots_total=stats.slots_total,
        queued=0,
        cells_used=0,
        cells_total=stats.cells_total,
    )
