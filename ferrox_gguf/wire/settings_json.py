"""`generation_settings`: the parameters a request really ran with, under llama-server's names."""

from __future__ import annotations

import math

from ferrox_gguf.json_types import Json
from ferrox_gguf.request import Generation, Sampling
from ferrox_gguf.wire.answer import Asked
from ferrox_gguf.wire.constraints import TRIGGER_KINDS
from ferrox_gguf.wire.served import Served

DEFAULT_SAMPLERS = (
    "penalties",
    "dry",
    "top_n_sigma",
    "top_k",
    "typ_p",
    "top_p",
    "min_p",
    "xtc",
    "temperature",
)

COPIED = (
    "temperature",
    "dynatemp_range",
    "dynatemp_exponent",
    "top_k",
    "top_p",
    "min_p",
    "top_n_sigma",
    "xtc_probability",
    "xtc_threshold",
    "typical_p",
    "repeat_last_n",
    "repeat_penalty",
    "presence_penalty",
    "frequency_penalty",
    "dry_multiplier",
    "dry_base",
    "dry_allowed_length",
    "dry_penalty_last_n",
    "mirostat",
    "mirostat_tau",
    "mirostat_eta",
    "adaptive_target",
    "adaptive_decay",
    "ignore_eos",
    "min_keep",
)
"""Sampling fields that have the same name on both sides."""


def short_settings(generation: Generation) -> dict[str, Json]:
    """What `/props` and `/slots` show: nothing of a client's own text."""
    sampling = generation.sampling
    return {
        "seed": sampling.seed,
        **{name: getattr(sampling, name) for name in COPIED},
        "max_tokens": generation.max_tokens,
        "n_predict": generation.max_tokens,
        "n_keep": generation.n_keep,
        "n_discard": generation.n_discard,
        "n_probs": generation.n_probs,
        "samplers": list[Json](sampling.samplers or DEFAULT_SAMPLERS),
        "post_sampling_probs": generation.post_sampling_probs,
        "backend_sampling": False,
        "speculative.types": "none",
        "lora": [{"id": lora.adapter, "scale": lora.scale} for lora in generation.lora or ()],
        "stream": False,
        "timings_per_token": False,
        "chat_format": "Content-only",
        "reasoning_format": "none",
        "reasoning_in_content": False,
        "generation_prompt": "",
    }


def generation_settings(asked: Asked, seed: int | None) -> dict[str, Json]:
    """seed: the one that was drawn, None if the request never got to sampling."""
    generation, grammar = asked.generation, asked.generation.grammar
    return {
        **short_settings(generation),
        "seed": generation.sampling.seed if seed is None else seed,
        "dry_sequence_breakers": list[Json](generation.sampling.dry_sequence_breakers),
        "stop": list[Json](generation.stop),
        "stream": asked.presentation.stream,
        "logit_bias": logit_bias_json(generation.sampling, asked.served),
        "grammar": grammar.source if grammar else "",
        "grammar_lazy": grammar is not None and grammar.lazy,
        "grammar_triggers": [
            {"type": TRIGGER_KINDS.index(trigger.kind), "value": trigger.value}
            for trigger in (grammar.triggers if grammar else ())
        ],
        "preserved_tokens": [],
        "chat_format": asked.chat_format,
        "reasoning_format": asked.reasoning_format,
        "generation_prompt": asked.generation_prompt,
        "timings_per_token": asked.presentation.timings_per_token,
    }


def logit_bias_json(sampling: Sampling, served: Served) -> list[Json]:
    """`ignore_eos` is the ban of every end token; JSON has no infinity, so a ban is null."""
    banned = served.end_tokens if sampling.ignore_eos else ()
    biases = (*sampling.logit_bias, *((token, -math.inf) for token in banned))
    return [{"bias": bias if math.isfinite(bias) else None, "token": token} for token, bias in biases]
