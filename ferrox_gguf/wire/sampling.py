"""The sampling fields, one row each: where the value goes and what it may be.

llama-server clamps some of these silently; here a value out of range is refused by name, but what its README gives a
meaning (a temperature below zero is greedy, top_k -1 is off) is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias, Union

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.json_types import JsonObject
from ferrox_gguf.request import RANDOM_SEED, Sampling
from ferrox_gguf.wire.fields import FLOAT32_MAX, INT32_MAX, as_number, boolean, integer, kind, number, strings
from ferrox_gguf.wire.logit_bias import parse_logit_bias
from ferrox_gguf.wire.served import Served

Value: TypeAlias = Union[int, float]

LEAST_PENALTY = 1e-6
"""Logits are divided by it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One field: its wire name, the Sampling attribute, how it is read, and its closed range."""

    name: str
    attribute: str
    read: Callable[[JsonObject, str, Value, Value, Value], Value]
    low: Value
    high: Value


def whole(body: JsonObject, name: str, default: Value, low: Value, high: Value) -> int:
    return integer(body, name, int(default), int(low), int(high))


def real(name: str, low: float = -FLOAT32_MAX, high: float = FLOAT32_MAX) -> Row:
    """llama.cpp computes in 32 bits: what is larger would be infinite there."""
    return Row(name, name, number, low, high)


def count(name: str, low: int = 0, high: int = INT32_MAX) -> Row:
    return Row(name, name, whole, low, high)


ROWS = (
    real("temperature"),
    real("dynatemp_range", 0),
    real("dynatemp_exponent", 0),
    count("top_k", -1),
    real("top_p", 0, 1),
    real("min_p", 0, 1),
    real("top_n_sigma"),
    real("xtc_probability", 0, 1),
    real("xtc_threshold", 0, 1),
    real("typical_p", 0, 1),
    count("repeat_last_n", -1),
    real("repeat_penalty", LEAST_PENALTY),
    real("presence_penalty"),
    real("frequency_penalty"),
    real("dry_multiplier", 0),
    count("dry_allowed_length"),
    count("dry_penalty_last_n", -1),
    count("mirostat", 0, 2),
    real("mirostat_tau", 0),
    real("mirostat_eta", 0),
    real("adaptive_target", high=1),
    real("adaptive_decay", 0, 0.99),
    count("min_keep"),
)

SAMPLER_NAMES = {
    "dry": "dry",
    "top_k": "top_k",
    "top-k": "top_k",
    "typ_p": "typ_p",
    "typ-p": "typ_p",
    "typ": "typ_p",
    "typical": "typ_p",
    "typical_p": "typ_p",
    "typical-p": "typ_p",
    "top_p": "top_p",
    "top-p": "top_p",
    "nucleus": "top_p",
    "min_p": "min_p",
    "min-p": "min_p",
    "top_n_sigma": "top_n_sigma",
    "top-n-sigma": "top_n_sigma",
    "xtc": "xtc",
    "temperature": "temperature",
    "temp": "temperature",
    "infill": "infill",
    "penalties": "penalties",
    "adaptive_p": "adaptive_p",
    "adaptive-p": "adaptive_p",
}

SAMPLER_LETTERS = {
    "d": "dry",
    "k": "top_k",
    "y": "typ_p",
    "p": "top_p",
    "s": "top_n_sigma",
    "m": "min_p",
    "t": "temperature",
    "x": "xtc",
    "i": "infill",
    "e": "penalties",
    "a": "adaptive_p",
}


def parse_sampling(body: JsonObject, served: Served) -> Sampling:
    """The defaults with what the request says on top."""
    defaults = served.defaults.sampling
    changes: dict[str, Value] = {}
    for row in ROWS:
        if body.get(row.name) is not None:
            default = getattr(defaults, row.attribute)
            changes[row.attribute] = row.read(body, row.name, default, row.low, row.high)
    sampling = replace(defaults, **changes)  # type: ignore[arg-type]  # the table's attributes are all numbers
    return replace(
        sampling,
        seed=parse_seed(body, defaults.seed),
        dry_base=parse_dry_base(body, defaults.dry_base),
        dry_sequence_breakers=parse_breakers(body, defaults.dry_sequence_breakers),
        samplers=parse_samplers(body, defaults.samplers),
        logit_bias=parse_logit_bias(body["logit_bias"], served) if "logit_bias" in body else defaults.logit_bias,
        ignore_eos=boolean(body, "ignore_eos", defaults.ignore_eos),
    )


def parse_seed(body: JsonObject, default: int) -> int:
    """32 bits; -1 asks for a random one."""
    value = body.get("seed")
    return default if value is None else math.trunc(as_number("seed", value)) & RANDOM_SEED


def parse_dry_base(body: JsonObject, default: float) -> float:
    """Below 1 the penalty would turn into a reward: llama-server takes its default instead."""
    base = number(body, "dry_base", default, -FLOAT32_MAX, FLOAT32_MAX)
    return base if base >= 1 else default


def parse_breakers(body: JsonObject, default: tuple[str, ...]) -> tuple[str, ...]:
    breakers = strings(body, "dry_sequence_breakers")
    if breakers == ():
        raise InvalidField("dry_sequence_breakers", "must be a non-empty array of strings")
    return default if breakers is None else breakers


def parse_samplers(body: JsonObject, default: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Names in their order, or one letter each in a string. Unknown ones are refused: a typo would change the chain."""
    value = body.get("samplers")
    if value is None:
        return default
    if isinstance(value, str):
        names, known = list(value), SAMPLER_LETTERS
    elif isinstance(value, list) and all(isinstance(name, str) for name in value):
        names, known = [str(name) for name in value], SAMPLER_NAMES
    else:
        raise InvalidField("samplers", f"must be an array of names or a string of letters, not {kind(value)}")
    for name in names:
        if name not in known:
            raise InvalidField("samplers", f'there is no sampler "{name}"; there are {", ".join(sorted(known))}')
    return tuple(known[name] for name in names)
