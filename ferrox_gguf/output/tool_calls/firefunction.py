"""`functools[{"name": NAME, "arguments": {…}}, …]`: FireFunction v2, Phi-4-mini."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.section import JsonSection


class FireFunction(JsonSection):
    """Phi-4-mini may also write `<|tool_call|>[…]<|/tool_call|>`. Without the list it is prose."""

    openers = ("functools", "<|tool_call|>")
    closers = ("<|/tool_call|>",)
    triggers = ("functools[", "<|tool_call|>")
    must_list = True
