"""The constraint of Llama 3's calls: bare objects with `parameters`."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class Llama3(JsonForm):
    """Without `<|python_tag|>`, which these models write before the calls of built-in tools."""

    call = '{"name": $quoted, "parameters": $arguments}'
    separator = "; "
