"""The constraint of MiniMax M1's calls: `<tool_calls>`, one object a line, `</tool_calls>`."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class MiniMaxM1(JsonForm):
    """The objects stand in no list."""

    opener = "<tool_calls>\n"
    call = '{"name": $quoted, "arguments": $arguments}\n'
    closer = "</tool_calls>"
