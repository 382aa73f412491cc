"""`<|tools_prefix|>[{"NAME": {…}}, …]<|tools_suffix|>`: Apertus."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.section import JsonSection


class Apertus(JsonSection):
    """The function's name is the key."""

    openers = ("<|tools_prefix|>",)
    closers = ("<|tools_suffix|>",)
    keyed = True
