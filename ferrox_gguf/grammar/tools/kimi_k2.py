"""The constraint of Kimi K2's calls: `functions.NAME:IDX`, which is the call's id, then the object."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class KimiK2(JsonForm):
    """IDX counts over the whole conversation, so any number may come."""

    opener = "<|tool_calls_section_begin|>"
    call = "<|tool_call_begin|>functions.$name:$id<|tool_call_argument_begin|>$arguments<|tool_call_end|>"
    closer = "<|tool_calls_section_end|>"
    id = "(0|[1-9][0-9]{0,3})"
