"""Chat requests as the scenarios send them: to the endpoint that all servers have, with their default sampling."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bench_server.client import Answer, stream
from bench_server.process import Server
from bench_server.prompts import user, words


async def chat(server: Server, messages: Sequence[dict], tokens: int, **fields: object) -> Answer:
    """A streamed answer of exactly so many tokens, unless the fields say that it may end. Raises BadAnswer."""
    body = {"messages": list(messages), "max_tokens": tokens, "seed": 1, "ignore_eos": True, **fields}
    return await stream(server.port, "/v1/chat/completions", body)


async def crowd(server: Server, occasion: str, clients: int, prompt: int, tokens: int) -> list[Answer]:
    """So many clients at once, each with a prompt of its own."""
    asked = [[user(f"Tell me a story of {words(f'{occasion}-{client}', prompt)}.")] for client in range(clients)]
    return list(await asyncio.gather(*[chat(server, messages, tokens) for messages in asked]))
