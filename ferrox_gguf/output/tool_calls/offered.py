"""The tools of one request, by name."""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.request import Tool


class Offered:
    """Looks up names as models write them."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def __bool__(self) -> bool:
        return bool(self._tools)

    def find(self, name: str) -> Tool | None:
        """The offered tool of this name, or None. A doubled `NAME.NAME` counts as NAME (wire formats, 3.44)."""
        if (tool := self._tools.get(name)) is not None:
            return tool
        half = len(name) // 2
        if len(name) % 2 and name[half] == "." and name[:half] == name[half + 1 :]:
            return self._tools.get(name[:half])
        return None

    def could_be(self, start: str) -> bool:
        """May `start` still grow into an offered name?"""
        return any(name.startswith(start) for name in self._tools)
