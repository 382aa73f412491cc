"""Tool calls in a model's text: one file a syntax, one splitter for all of them.

`SYNTAXES` names every syntax as `posture/` does (wire formats, section 1, tool_format). A new one is one file here, one
line below, and its constraint in `grammar/tools/` (a test pairs the two lists).
"""

from __future__ import annotations

from collections.abc import Callable

from ferrox_gguf.output.tool_calls.hermes import Hermes
from ferrox_gguf.output.tool_calls.splitter import ToolCallSplitter
from ferrox_gguf.output.tool_calls.syntax import Syntax

SYNTAXES: dict[str, Callable[[], Syntax]] = {
    "qwen25": Hermes,
}

__all__ = ["SYNTAXES", "Syntax", "ToolCallSplitter"]
