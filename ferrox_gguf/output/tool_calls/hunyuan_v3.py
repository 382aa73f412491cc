"""Hy3: GLM's elements in a section, every marker with `:opensource`, and one more behind the name."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.glm47 import PairedTags

SUFFIX = ":opensource"


class HunyuanV3(PairedTags):
    def __init__(self) -> None:
        super().__init__(f"<tool_calls{SUFFIX}>", f"</tool_calls{SUFFIX}>", f"<tool_sep{SUFFIX}>", SUFFIX)
