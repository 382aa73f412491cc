"""The constraint of `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VAL</arg_value></tool_call>`.

GLM, Laguna, Ling and Spark differ in their line breaks only, which are layout: all are let through.
"""

from __future__ import annotations

from ferrox_gguf.grammar.tools.lines import GAP
from ferrox_gguf.grammar.tools.tagged import Form, Tagged
from ferrox_gguf.grammar.tools.texts import Ending


class PairedTags(Tagged):
    """section: around all calls.  separator: behind the name.  suffix: what every marker carries before its `>`."""

    def __init__(self, section: tuple[str, str] = ("", ""), separator: str = "", suffix: str = "") -> None:
        super().__init__(
            Form(
                section=section,
                call=(f"<tool_call{suffix}>NAME{separator}", f"</tool_call{suffix}>"),
                head=lambda key, kind: f"<arg_key{suffix}>{key}</arg_key{suffix}>{GAP}<arg_value{suffix}>",
                ending=Ending(f"</arg_value{suffix}>"),
            )
        )


class Glm47(PairedTags):
    """One call a block, no section around them."""
