"""The constraint of MiniMax-M2: a section of invocations."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.invoked import Invoked


class MiniMaxM2(Invoked):
    def __init__(self) -> None:
        super().__init__(section=("<minimax:tool_call>", "</minimax:tool_call>"))
