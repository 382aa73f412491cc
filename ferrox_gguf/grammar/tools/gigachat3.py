"""The constraint of GigaChat 3's call: a message of the role `function call`."""

from __future__ import annotations

from ferrox_gguf.errors import NotSupported
from ferrox_gguf.grammar.tools.json_form import JsonForm
from ferrox_gguf.grammar.tools.rules import CallRules

SEPARATOR = "<|message_sep|>"


class GigaChat3(JsonForm):
    """Where the separator ends generation, no call can follow it."""

    opener = f"{SEPARATOR}\n\nfunction call<|role_sep|>\n"
    call = '{"name": $quoted, "arguments": $arguments}'
    single = True

    def lark(self, rules: CallRules) -> str:
        if rules.ends(SEPARATOR):
            raise NotSupported(f"tool_choice cannot be enforced: this file ends generation at {SEPARATOR}")
        return super().lark(rules)
