"""The constraint of DSML, DeepSeek V3.2 and V4: every parameter says whether it is a string.

V3.2 calls the block `function_calls`, V4 `tool_calls`: both are let through, for one parser reads both.
"""

from __future__ import annotations

from ferrox_gguf.grammar.tools.invoked import Invoked
from ferrox_gguf.grammar.tools.lines import Lines, spelled
from ferrox_gguf.grammar.tools.rules import LAYOUT, CallRules, repeated

PREFIX = "｜DSML｜"
BLOCKS = ("function_calls", "tool_calls")


def _head(key: str, kind: str) -> str:
    return f'<{PREFIX}parameter name="{key}" string="{"true" if kind == "string" else "false"}">'


class DeepSeekV32(Invoked):
    def __init__(self) -> None:
        super().__init__(PREFIX, head=_head)

    def section(self, rules: CallRules, lines: Lines, call: str) -> str:
        blocks = [
            f"{spelled(rules, f'<{PREFIX}{word}>')} {LAYOUT} {repeated(call, rules)} {LAYOUT} "
            f"{spelled(rules, f'</{PREFIX}{word}>')}"
            for word in BLOCKS
        ]
        return lines.rule("\n | ".join(blocks), "block")
