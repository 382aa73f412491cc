"""The constraint of GigaChat 3.1's call: `<|function_call|>{"name": NAME, "arguments": {…}}`."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class GigaChat31(JsonForm):
    """One call a message."""

    call = '<|function_call|>{"name": $quoted, "arguments": $arguments}'
    single = True
