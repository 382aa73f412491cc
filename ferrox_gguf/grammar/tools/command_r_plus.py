"""The constraint of Command R's calls: `Action:` and a fenced list."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class CommandRPlus(JsonForm):
    """Indented as the template has it."""

    opener = "Action: ```json\n[\n"
    call = '    {\n        "tool_name": $quoted,\n        "parameters": $arguments\n    }'
    separator = ",\n"
    closer = "\n]```"
