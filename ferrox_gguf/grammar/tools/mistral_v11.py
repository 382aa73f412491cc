"""The constraint of Mistral's calls from v11 on: `[TOOL_CALLS]NAME[ARGS]{…}`."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class MistralV11(JsonForm):
    """Small 3.2 writes an id before the arguments, the others do not; all of them know its marker."""

    call = "[TOOL_CALLS]$name$maybe_id[ARGS]$arguments"
    maybe_id = "[CALL_ID]$id"
    id = "[a-zA-Z0-9]{9}"
