"""The constraint of Mistral's calls before v11: `[TOOL_CALLS][{"name": NAME, "arguments": {…}, "id": ID}, …]`."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class Mistral(JsonForm):
    """The template raises on an id that is not nine letters and digits."""

    opener = "[TOOL_CALLS]["
    call = '{"name": $quoted, "arguments": $arguments, "id": "$id"}'
    separator = ", "
    closer = "]"
    id = "[a-zA-Z0-9]{9}"
