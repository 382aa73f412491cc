"""`<tool_call><function=NAME><parameter=KEY>VAL</parameter></function></tool_call>`: Qwen3-Coder, Qwen3.5, Nemotron 3,
StepFun, MiMo V2.

One line break on either side of a value is layout; MiMo writes none. Models leave the outer opener out.
"""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.output.tool_calls.attributes import read_label
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.enclosure import Enclosure
from ferrox_gguf.output.tool_calls.tagged import Form, Head, read_call
from ferrox_gguf.output.tool_calls.writer import CallWriter

OPENER, CLOSER = "<tool_call>", "</tool_call>"
FUNCTION, PARAMETER = "<function=", "<parameter="


def read_head(text: Cursor) -> Steps[Head | None]:
    key = yield from read_label(text, PARAMETER, ">")
    return None if key is None else Head(key)


class Qwen3Coder:
    """Functions with or without the block around them."""

    at_start = False

    def __init__(self, opener: str = OPENER, closer: str = CLOSER, *, bare: bool = True, layout: bool = True) -> None:
        self.triggers: Sequence[str] = (opener, FUNCTION) if bare else (opener,)
        self._enclosure = Enclosure((opener,), (closer,), (FUNCTION,))
        self._form = Form(
            read_head,
            (PARAMETER,),
            "</parameter>",
            "</function>",
            outer=(closer,),
            next_call=(opener,),
            goes_on=(f"{opener}{FUNCTION}", f"{opener}\n{FUNCTION}"),
            layout=layout,
        )

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        return (yield from self._enclosure.read(text, calls, self._call))

    def _call(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        name = yield from read_label(text, FUNCTION, ">")
        return name is not None and (yield from read_call(text, calls, name, self._form))
