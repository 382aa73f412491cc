"""The constraint of `<tool_calls>[{"name": NAME, "arguments": {…}}, …]</tool_calls>`: Apriel, Hunyuan A13B."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class Apriel(JsonForm):
    """One list holds all calls of the message."""

    opener = "<tool_calls>["
    call = '{"name": $quoted, "arguments": $arguments}'
    separator = ", "
    closer = "]</tool_calls>"
