"""`<tool_calls>[{"name": NAME, "arguments": {…}}, …]</tool_calls>`: Apriel, Hunyuan A13B."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.section import JsonSection


class Apriel(JsonSection):
    """One list holds all calls of the message."""

    openers = ("<tool_calls>",)
    closers = ("</tool_calls>",)
