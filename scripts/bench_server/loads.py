"""Scenarios of plain text: writing, reading, sharing a prompt, both at once, and a conversation that grows."""

from __future__ import annotations

import asyncio
from itertools import chain
from statistics import median

from bench_server.asking import chat, crowd
from bench_server.client import Answer
from bench_server.measures import decode_rate, percentile, total_rate
from bench_server.metrics import Metric, at_least, at_most
from bench_server.peers import LLAMA_CPP_SERVER, LLAMA_SERVER
from bench_server.process import Server
from bench_server.prompts import assistant, system, user, words
from bench_server.scenario import Scenario, Sizes, Values

CLIENTS = 8
BOTH = (LLAMA_SERVER, LLAMA_CPP_SERVER)


def decode(clients: int, target: float | None) -> Scenario:
    """So many clients, short prompts, long answers."""

    async def measure(server: Server, occasion: str, sizes: Sizes) -> Values:
        return {"tokens a second": decode_rate(await crowd(server, occasion, clients, 8, sizes.decode))}

    goal = None if target is None else at_least(target)
    return Scenario(f"decode-{clients}", (Metric("tokens a second", "tok/s", target=goal),), measure, BOTH)


async def prefill(server: Server, occasion: str, sizes: Sizes) -> Values:
    """One long prompt, one token."""
    answer = await chat(server, [user(words(occasion, sizes.prefill))], 1)
    return {"prompt tokens a second": (answer.prompt_read or sizes.prefill) / answer.first}


async def shared(server: Server, occasion: str, sizes: Sizes) -> Values:
    """Clients that all bring the same system prompt, which no server has seen; each asks again when it is answered."""
    rules = system(words(occasion, sizes.system))

    async def client(number: int) -> list[Answer]:
        questions = [words(f"{occasion}-{number}-{turn}", sizes.question) for turn in range(sizes.requests // CLIENTS)]
        return [await chat(server, [rules, user(question)], sizes.answer) for question in questions]

    answers = list(chain.from_iterable(await asyncio.gather(*map(client, range(CLIENTS)))))
    return {"time to first token": median(answer.first for answer in answers), "tokens a second": total_rate(answers)}


async def mixed(server: Server, occasion: str, sizes: Sizes) -> Values:
    """Four streams write while long prompts arrive."""
    streams = asyncio.ensure_future(crowd(server, occasion, 4, 8, sizes.stream))
    visitors = []
    for number in range(sizes.arrivals):
        await asyncio.sleep(sizes.pause_s)
        prompt = [user(words(f"{occasion}-long-{number}", sizes.long))]
        visitors.append(asyncio.ensure_future(chat(server, prompt, sizes.answer)))
    running, visiting = await streams, await asyncio.gather(*visitors)
    gaps = [gap for answer in running for gap in answer.gaps]
    return {
        "p99 between tokens": 1000 * percentile(gaps, 0.99),
        "tokens a second": total_rate([*running, *visiting]),
    }


async def turns(server: Server, occasion: str, sizes: Sizes) -> Values:
    """An agent: every turn sends all that was said before, the server's own answers too, and a tool's result."""
    messages = [system(words(occasion, sizes.system)), user(f"Do this: {words(f'{occasion}-task', 40)}.")]
    read, waited = 0, []
    for turn in range(sizes.turns):
        answer = await chat(server, messages, 24, temperature=0)
        if turn:
            read += answer.prompt_read
            waited.append(answer.first)
        messages += [assistant(answer.text), user(f"Result: {words(f'{occasion}-{turn}', 60)}.")]
    return {"prompt tokens read after turn 1": read, "time to first token": median(waited)}


LOADS = (
    decode(1, 0.95),
    decode(4, None),
    decode(8, 0.95),
    Scenario("prefill", (Metric("prompt tokens a second", "tok/s"),), prefill, BOTH),
    Scenario(
        "shared",
        (
            Metric("time to first token", "s", target=at_most(0.35)),
            Metric("tokens a second", "tok/s", target=at_least(3.0)),
        ),
        shared,
        BOTH,
    ),
    Scenario(
        "mixed",
        (
            Metric("p99 between tokens", "ms", target=at_most(0.20)),
            Metric("tokens a second", "tok/s", target=at_least(0.95)),
        ),
        mixed,
    ),
    Scenario(
        "turns",
        (
            Metric("prompt tokens read after turn 1", "tok", target=at_most(1.0)),
            Metric("time to first token", "s"),
        ),
        turns,
    ),
)
