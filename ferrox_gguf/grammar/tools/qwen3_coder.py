"""The constraint of `<tool_call><function=NAME><parameter=KEY>VAL</parameter></function></tool_call>`.

The outer opener is written, and either both of a value's line breaks or none (MiMo).
"""

from __future__ import annotations

from ferrox_gguf.grammar.tools.lines import GAP
from ferrox_gguf.grammar.tools.tagged import Form, Tagged
from ferrox_gguf.grammar.tools.texts import Ending, forgotten


class Qwen3Coder(Tagged):
    def __init__(self, opener: str = "<tool_call>", closer: str = "</tool_call>", *, layout: bool = True) -> None:
        ends = ("</function>", closer)
        never = tuple(forgotten(ends, f"{opener}{between}<function=") for between in ("", "\n"))
        super().__init__(
            Form(
                call=(f"{opener}{GAP}<function=NAME>", f"</function>{GAP}{closer}"),
                head=lambda key, kind: f"<parameter={key}>",
                ending=Ending("</parameter>", never, layout),
            )
        )
