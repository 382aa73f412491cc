"""The constraint of Solar Open's calls: an id, a name and the object, each behind its own marker."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class SolarOpen(JsonForm):
    """The model writes the ids. A thought before has its own message, so the calls' header may come first."""

    header = "<|begin|>assistant"
    opener = "<|tool_calls|>"
    call = "<|tool_call:begin|>$id<|tool_call:name|>$name<|tool_call:args|>$arguments<|tool_call:end|>"
    closer = "<|calls|>"
    id = "[a-z0-9]{10}"
