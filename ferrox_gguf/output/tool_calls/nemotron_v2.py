"""`<TOOLCALL>[{"name": NAME, "arguments": {…}}, …]</TOOLCALL>`: Nemotron Nano v2."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.section import JsonSection


class NemotronV2(JsonSection):
    """One list holds all calls of the message."""

    openers = ("<TOOLCALL>",)
    closers = ("</TOOLCALL>",)
