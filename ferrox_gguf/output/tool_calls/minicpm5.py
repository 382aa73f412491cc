"""`<function name="NAME"><param name="KEY">VAL</param></function>`: MiniCPM5. A value may be a CDATA section."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.invoked import Invocation, Invoked

FUNCTION = Invocation("<function", "</function>", "<param", "</param>")


class MiniCpm5(Invoked):
    """Calls stand alone."""

    def __init__(self) -> None:
        super().__init__(FUNCTION, cdata=True)
        self.triggers = ("<function name=",)
