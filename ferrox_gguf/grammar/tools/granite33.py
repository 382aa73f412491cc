"""The constraint of Granite 3.3's calls: `<|tool_call|>[{"name": NAME, "arguments": {…}}, …]`."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class Granite33(JsonForm):
    """The list ends itself."""

    opener = "<|tool_call|>["
    call = '{"name": $quoted, "arguments": $arguments}'
    separator = ", "
    closer = "]"
