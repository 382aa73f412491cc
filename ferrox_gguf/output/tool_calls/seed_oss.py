"""`<seed:tool_call><function=NAME><parameter=KEY>VAL</parameter></function></seed:tool_call>`: values are verbatim."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.qwen3_coder import Qwen3Coder


class SeedOss(Qwen3Coder):
    """Qwen3-Coder's elements without line breaks of layout, always in a block of their own."""

    def __init__(self) -> None:
        super().__init__("<seed:tool_call>", "</seed:tool_call>", bare=False, layout=False)
