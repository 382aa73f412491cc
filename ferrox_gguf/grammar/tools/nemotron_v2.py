"""The constraint of Nemotron Nano v2's calls: `<TOOLCALL>[{"name": NAME, "arguments": {…}}, …]</TOOLCALL>`."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class NemotronV2(JsonForm):
    """One list holds all calls of the message."""

    opener = "<TOOLCALL>["
    call = '{"name": $quoted, "arguments": $arguments}'
    separator = ", "
    closer = "]</TOOLCALL>"
