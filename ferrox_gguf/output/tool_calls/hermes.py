"""`<tool_call>{"name": NAME, "arguments": {…}}</tool_call>`: Hermes, Qwen, and what our own preamble teaches."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.section import JsonSection


class Hermes(JsonSection):
    """One object a block; blocks repeat. Several objects in one block, with or without a list, occur."""

    openers = ("<tool_call>",)
    closers = ("</tool_call>",)
