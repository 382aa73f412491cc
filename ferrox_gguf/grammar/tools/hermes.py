"""The constraint of `<tool_call>{"name": NAME, "arguments": {…}}</tool_call>`."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class Hermes(JsonForm):
    """One object a block, spaced as the templates write it; the line breaks around it are often left out."""

    call = '<tool_call>$layout{"name": $quoted, "arguments": $arguments}$layout</tool_call>'
    separator = "$layout"
