"""The constraint of Hy3: GLM's elements in a section, every marker with `:opensource`."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.glm47 import PairedTags

SUFFIX = ":opensource"


class HunyuanV3(PairedTags):
    def __init__(self) -> None:
        super().__init__(
            (f"<tool_calls{SUFFIX}>", f"</tool_calls{SUFFIX}>"), separator=f"<tool_sep{SUFFIX}>", suffix=SUFFIX
        )
