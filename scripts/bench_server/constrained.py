"""What a schema costs a token: the same server with and without, and against llama-server on the same schema."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench_server.asking import chat
from bench_server.measures import token_ms
from bench_server.metrics import Compare, Metric, at_least, at_most
from bench_server.models import SMOLLM2, gemma
from bench_server.process import Server
from bench_server.prompts import user, words
from bench_server.scenario import Scenario, Sizes, Values

SCHEMA = {
    "type": "array",
    "minItems": 60,
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 3, "maxLength": 24},
            "kind": {"enum": ["river", "mountain", "village", "harbor"]},
            "visits": {"type": "integer"},
            "open": {"type": "boolean"},
        },
        "required": ["name", "kind", "visits", "open"],
        "additionalProperties": False,
    },
}
"""More than any answer here holds, so that every answer is as long as it was asked to be."""

FORMAT = {"type": "json_schema", "json_schema": {"name": "places", "strict": True, "schema": SCHEMA}}


async def measure(server: Server, occasion: str, sizes: Sizes) -> Values:
    messages = [user(f"List places as JSON, with {words(occasion, 8)}.")]
    free = await chat(server, messages, sizes.constrained)
    # A grammar says when an answer may end; llama-server would let ignore_eos speak against it.
    held = await chat(server, messages, sizes.constrained, response_format=FORMAT, ignore_eos=False)
    return {
        "constrained tokens a second": 1000 / token_ms([held]),
        "cost of the schema": token_ms([held]) / token_ms([free]),
    }


def json(name: str, model: Callable[[], Path | None], cost: float | None) -> Scenario:
    """cost: how many times an unconstrained token a constrained one may take."""
    metrics = (
        Metric("constrained tokens a second", "tok/s", target=at_least(1.0)),
        Metric("cost of the schema", "x", Compare.OWN, None if cost is None else at_most(cost)),
    )
    return Scenario(name, metrics, measure, model=model)


CONSTRAINED = (json("json", lambda: SMOLLM2, None), json("json-gemma", gemma, 1.10))
