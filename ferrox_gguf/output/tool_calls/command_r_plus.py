"""`Action:`, then a fenced list of `{"tool_name": NAME, "parameters": {…}}`: Command R and R+."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.json_payload import Fields
from ferrox_gguf.output.tool_calls.section import JsonSection


class CommandRPlus(JsonSection):
    """The word `Action:` without a list of offered tools behind it is prose (`directly-answer` is no tool)."""

    openers = ("Action:",)
    fields = Fields(name=("tool_name", "name"), arguments=("parameters", "arguments"))
    must_list = True
