"""The constraint of Seed-OSS: Qwen3-Coder's elements in a block of its own, values verbatim."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.qwen3_coder import Qwen3Coder


class SeedOss(Qwen3Coder):
    def __init__(self) -> None:
        super().__init__("<seed:tool_call>", "</seed:tool_call>", layout=False)
