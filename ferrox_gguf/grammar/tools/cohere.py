"""The constraint of Command R7B's and Cohere 2's calls: a list of objects with ids between action markers."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class Cohere(JsonForm):
    """The ids are numbers, which the model counts."""

    opener = "<|START_ACTION|>[\n"
    call = '    {"tool_call_id": "$id", "tool_name": $quoted, "parameters": $arguments}'
    separator = ",\n"
    closer = "\n]<|END_ACTION|>"
    id = "(0|[1-9][0-9]{0,3})"
