"""`<|START_ACTION|>[{"tool_call_id": ID, "tool_name": NAME, "parameters": {…}}, …]<|END_ACTION|>`: R7B, Cohere2."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.json_payload import Fields
from ferrox_gguf.output.tool_calls.section import JsonSection


class Cohere(JsonSection):
    """The ids are numbers that the model counts."""

    openers = ("<|START_ACTION|>",)
    closers = ("<|END_ACTION|>",)
    fields = Fields(name=("tool_name", "name"), arguments=("parameters", "arguments"), id=("tool_call_id",))
