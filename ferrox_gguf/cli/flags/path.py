"""Reading and replacing one fact of a tree of frozen values, by its path ("context.rope.scale")."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ferrox_gguf.settings import Settings


def get(settings: Settings, path: str) -> object:
    """The value at path."""
    value: object = settings
    for name in path.split("."):
        value = getattr(value, name)
    return value


def put(settings: Settings, path: str, value: object) -> Settings:
    """The same settings with another value at path."""
    changed: Settings = _put(settings, path.split("."), value)
    return changed


def _put(node: Any, names: list[str], value: object) -> Any:
    first, *rest = names
    return replace(node, **{first: _put(getattr(node, first), rest, value) if rest else value})
