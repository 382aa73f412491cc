"""The constraint of Kimi K3's XTML: a tools section, calls numbered, every argument with its type.

The prompt may have left the answer's section open, and the model may open an empty one: both are closed first.
"""

from __future__ import annotations

from ferrox_gguf.grammar.tools.lines import Lines, spelled
from ferrox_gguf.grammar.tools.rules import CallRules
from ferrox_gguf.grammar.tools.tagged import Form, Tagged
from ferrox_gguf.grammar.tools.texts import Ending

SEP = "<|sep|>"
RESPONSE, RESPONSE_END = f"<|open|>response{SEP}", f"<|close|>response{SEP}"
MESSAGE_END = f"<|close|>message{SEP}"


class KimiK3(Tagged):
    def __init__(self) -> None:
        super().__init__(
            Form(
                section=(f"<|open|>tools{SEP}", f"<|close|>tools{SEP}"),
                call=('<|open|>call tool="NAME" index="', f"<|close|>call{SEP}"),
                head=lambda key, kind: f'<|open|>argument key="{key}" type="{_word(kind)}"{SEP}',
                ending=Ending(f"<|close|>argument{SEP}"),
                said=True,
            )
        )

    def around(self, rules: CallRules, lines: Lines, calls: str) -> str:
        opened, closed, end = (spelled(rules, marker) for marker in (RESPONSE, RESPONSE_END, MESSAGE_END))
        return f"({opened})? ({closed})? {calls} ({end})?"

    def opening(self, rules: CallRules, name: str) -> str:
        end = spelled(rules, f'"{SEP}')
        return f"{super().opening(rules, name)} /[1-9][0-9]{{0,2}}/ {end}"


def _word(kind: str) -> str:
    return "number" if kind == "integer" else kind
