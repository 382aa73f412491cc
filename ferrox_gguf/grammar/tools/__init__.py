"""Tool calls as constraints: one grammar for every syntax of `output/tool_calls` (a test pairs the two lists)."""

from __future__ import annotations

from collections.abc import Callable

from ferrox_gguf.grammar.tools.hermes import Hermes
from ferrox_gguf.grammar.tools.rules import CallRules, ToolGrammar

GRAMMARS: dict[str, Callable[[], ToolGrammar]] = {
    "qwen25": Hermes,
}

__all__ = ["GRAMMARS", "CallRules", "ToolGrammar"]
