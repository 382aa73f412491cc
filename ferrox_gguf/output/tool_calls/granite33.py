"""`<|tool_call|>[{"name": NAME, "arguments": {…}}, …]`: Granite 3.3, and 3.1, which writes `<tool_call>` there."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.section import JsonSection


class Granite33(JsonSection):
    """The list ends itself."""

    openers = ("<|tool_call|>", "<tool_call>")
    closers = ("</tool_call>",)
