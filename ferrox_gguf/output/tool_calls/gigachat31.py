"""`<|function_call|>{"name": NAME, "arguments": {…}}`: GigaChat 3.1."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.section import JsonSection


class GigaChat31(JsonSection):
    """The object ends itself."""

    openers = ("<|function_call|>",)
