"""`<atem:invoke name="NAME"><atem:parameter name="KEY">VAL</atem:parameter></atem:invoke>`: muse-glimmer's tool bodies.

Which bodies are tool bodies is decided by the channel grammar (`output/atem.py`); what no schema declares is a string.
"""

from __future__ import annotations

from ferrox_gguf.declared import STRING
from ferrox_gguf.output.tool_calls.invoked import Invocation, Invoked

INVOKE = Invocation("<atem:invoke", "</atem:invoke>", "<atem:parameter", "</atem:parameter>")
SECTION = ("<atem:function_calls>", "</atem:function_calls>")


class Atem(Invoked):
    """The section may be left out: the channel says already that this is a call."""

    def __init__(self) -> None:
        super().__init__(INVOKE, (SECTION,), undeclared=STRING)
        self.triggers = (SECTION[0], INVOKE.invoke)
