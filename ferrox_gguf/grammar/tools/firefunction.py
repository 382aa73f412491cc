"""The constraint of FireFunction's calls: `functools[{"name": NAME, "arguments": {…}}, …]`."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class FireFunction(JsonForm):
    """One list holds all calls."""

    opener = "functools["
    call = '{"name": $quoted, "arguments": $arguments}'
    separator = ", "
    closer = "]"
