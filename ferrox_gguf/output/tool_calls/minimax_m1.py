"""`<tool_calls>`, one `{"name": NAME, "arguments": {…}}` a line, `</tool_calls>`: MiniMax M1."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.section import JsonSection


class MiniMaxM1(JsonSection):
    """The objects stand in no list."""

    openers = ("<tool_calls>",)
    closers = ("</tool_calls>",)
