"""The fields that say how much to generate and when to stop: JSON to a Generation."""

from __future__ import annotations

from dataclasses import replace

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.request import Generation, GrammarSpec, LoraScale
from ferrox_gguf.wire.constraints import parse_constraint
from ferrox_gguf.wire.fields import as_number, boolean, first_given, integer, kind
from ferrox_gguf.wire.sampling import parse_sampling
from ferrox_gguf.wire.served import Served

LIMIT_NAMES = ("n_predict", "max_completion_tokens", "max_tokens")
COUNT_NAMES = ("n_cmpl", "n")
PROBABILITY_NAMES = ("n_probs", "logprobs")


def parse_generation(body: JsonObject, served: Served, grammar: GrammarSpec | None = None) -> Generation:
    """The server's defaults with what the request says on top. grammar: already read off a dialect's own field."""
    defaults = served.defaults
    return replace(
        defaults,
        sampling=parse_sampling(body, served),
        max_tokens=parse_limit(body, defaults.max_tokens),
        stop=parse_stop(body.get("stop")) or defaults.stop,
        n=integer(body, first_given(body, COUNT_NAMES), defaults.n, 1, served.n_parallel),
        n_probs=integer(body, first_given(body, PROBABILITY_NAMES), defaults.n_probs, 0),
        post_sampling_probs=boolean(body, "post_sampling_probs", defaults.post_sampling_probs),
        cache_prompt=boolean(body, "cache_prompt", defaults.cache_prompt),
        id_slot=integer(body, "id_slot", defaults.id_slot, -1),
        t_max_predict_ms=integer(body, "t_max_predict_ms", defaults.t_max_predict_ms, -1),
        n_indent=integer(body, "n_indent", defaults.n_indent, 0),
        n_keep=integer(body, "n_keep", defaults.n_keep, -1),
        n_discard=integer(body, "n_discard", defaults.n_discard, 0),
        n_cache_reuse=integer(body, "n_cache_reuse", defaults.n_cache_reuse, 0),
        grammar=grammar or parse_constraint(body) or defaults.grammar,
        lora=parse_lora(body.get("lora")) if "lora" in body else defaults.lora,
    )


def parse_limit(body: JsonObject, limit: int) -> int:
    """The request's own limit, or the server's (`-n`) where it has none."""
    wanted = integer(body, first_given(body, LIMIT_NAMES), limit, -1)
    return limit if wanted < 0 else wanted


def parse_stop(value: Json) -> tuple[str, ...]:
    """One string or several; empty ones stop nothing."""
    words = [value] if isinstance(value, str) else value
    if words is None:
        return ()
    if not isinstance(words, list):
        raise InvalidField("stop", f"must be a string or an array of strings, not {kind(value)}")
    for word in words:
        if not isinstance(word, str):
            raise InvalidField("stop", f"must hold strings, not {kind(word)}")
    return tuple(str(word) for word in words if word)


def parse_lora(value: Json) -> tuple[LoraScale, ...] | None:
    """[{"id": 0, "scale": 0.5}]; adapters that are not named have scale 0 for this request."""
    if value is None:
        return None
    if not isinstance(value, list):
        raise InvalidField("lora", "must be an array of objects with id and scale")
    return tuple(parse_lora_scale(item) for item in value)


def parse_lora_scale(item: Json) -> LoraScale:
    if not isinstance(item, dict) or item.get("id") is None or item.get("scale") is None:
        raise InvalidField("lora", "must be an array of objects with id and scale")
    return LoraScale(integer(item, "id", 0, 0), float(as_number("lora", item["scale"])))
