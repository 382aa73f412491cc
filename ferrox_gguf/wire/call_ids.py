"""Ids of tool calls: always there, never twice in one message."""

from __future__ import annotations

from ferrox_gguf.wire.answer import random_id


class CallIds:
    """Keeps the model's own ids, numbers repetitions of one, and draws the missing ones."""

    def __init__(self, prefix: str = "call_") -> None:
        self._prefix = prefix
        self._used: set[str] = set()

    def assign(self, own: str | None) -> str:
        wanted = own or random_id(self._prefix, 24)
        unique, again = wanted, 2
        while unique in self._used:
            unique, again = f"{wanted}_{again}", again + 1
        self._used.add(unique)
        return unique
