"""`<minimax:tool_call><invoke name="NAME"><parameter name="KEY">VAL</parameter></invoke></minimax:tool_call>`: M2."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.invoked import Invocation, Invoked

INVOKE = Invocation("<invoke", "</invoke>", "<parameter", "</parameter>")


class MiniMaxM2(Invoked):
    def __init__(self) -> None:
        super().__init__(INVOKE, (("<minimax:tool_call>", "</minimax:tool_call>"),))
