"""The constraint of `<tool_call>{"name": …, "arguments": {…}}</tool_call>`."""

from __future__ import annotations

import json

from ferrox_gguf.grammar.tools.rules import LAYOUT, CallRules, alternatives, literal, repeated


def payload_head(name: str) -> str:
    """The object up to its arguments, spaced as the template writes it: the spelling the model knows."""
    return f'{{"name": {json.dumps(name)}, "arguments": '


class Hermes:
    def lark(self, rules: CallRules) -> str:
        opener, closer = rules.marker("<tool_call>"), rules.marker("</tool_call>")
        payloads = [f'{literal(payload_head(rules.tools[i].name))} arguments_{i} "}}"' for i in rules.allowed]
        return "\n".join(
            [
                f"start: {LAYOUT} {repeated('call', rules)}",
                f"call: {opener} {LAYOUT} payload {LAYOUT} {closer}",
                alternatives("payload", payloads),
                *(f"arguments_{i}: {rules.arguments(i)}" for i in rules.allowed),
            ]
        )
