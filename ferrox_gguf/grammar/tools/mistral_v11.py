"""The constraint of Mistral's calls from v11 on: `[TOOL_CALLS]NAME[ARGS]{…}`."""

from __future__ import annotations

from collections.abc import Mapping

from ferrox_gguf.grammar.tools.json_form import JsonForm
from ferrox_gguf.grammar.tools.rules import CallRules


class MistralV11(JsonForm):
    """Small 3.2 writes an id before the arguments, the others do not; both know the marker."""

    call = "[TOOL_CALLS]$name$call_id[ARGS]$arguments"
    id = "[a-zA-Z0-9]{9}"

    def places(self, rules: CallRules) -> Mapping[str, str]:
        token = rules.special("[CALL_ID]")
        return {**super().places(rules), "$call_id": "" if token is None else f"(<[{token}]> /{self.id}/)?"}
