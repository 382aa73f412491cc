"""The `timings` and `prompt_progress` objects, the same in every dialect."""

from __future__ import annotations

from ferrox_gguf.events import Progress, Timings
from ferrox_gguf.json_types import Json


def timings_json(timings: Timings) -> dict[str, Json]:
    """The first token comes with the prompt's last batch: what is generated per second is the rest."""
    generated = max(0, timings.predicted_tokens - 1)
    return {
        "cache_n": timings.cache_tokens,
        "prompt_n": timings.prompt_tokens,
        "prompt_ms": timings.prompt_ms,
        "prompt_per_token_ms": ratio(timings.prompt_ms, timings.prompt_tokens),
        "prompt_per_second": ratio(1e3 * timings.prompt_tokens, timings.prompt_ms),
        "predicted_n": timings.predicted_tokens,
        "predicted_ms": timings.predicted_ms,
        "predicted_per_token_ms": ratio(timings.predicted_ms, generated),
        "predicted_per_second": ratio(1e3 * generated, timings.predicted_ms),
    }


def ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def progress_json(progress: Progress) -> dict[str, Json]:
    return {
        "total": progress.total,
        "cache": progress.cache,
        "processed": progress.processed,
        "time_ms": round(progress.time_ms),
    }
