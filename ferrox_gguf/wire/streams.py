"""Kept streams as JSON."""

from __future__ import annotations

from ferrox_gguf.json_types import Json, JsonObject


def parse_lookup(body: JsonObject) -> list[str]:
    """The conversations asked about; what is no name is left out, as in llama-server."""
    names = body.get("conversation_ids")
    return [name for name in names if isinstance(name, str) and name] if isinstance(names, list) else []


def session_json(conversation: str, done: bool, size: int, began: int, ended: int) -> dict[str, Json]:
    """size: bytes.  began, ended: seconds since 1970, 0 while it runs."""
    return {
        "conversation_id": conversation,
        "is_done": done,
        "total_bytes": size,
        "started_at": began,
        "completed_at": ended,
    }
