"""`<|tool_call_begin|>functions.NAME:IDX<|tool_call_argument_begin|>{…}<|tool_call_end|>` in a section: Kimi K2."""

from __future__ import annotations

import re

from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.named import Head, NamedSection

_ID = re.compile(r"(?:functions\.)?(?P<name>.+?)(?P<index>:\d+)?", re.DOTALL)


class KimiK2(NamedSection):
    """The head is the call's id. IDX counts over the whole conversation."""

    openers = ("<|tool_calls_section_begin|>",)
    closers = ("<|tool_calls_section_end|>",)
    call_opener = "<|tool_call_begin|>"
    separators = ("<|tool_call_argument_begin|>",)
    call_closers = ("<|tool_call_end|>",)

    def head(self, text: Cursor) -> Steps[Head | None]:
        said = yield from self.name(text)
        if said is None or (match := _ID.fullmatch(said)) is None:
            return None
        # Without an index it would be the same for every call of this function.
        return Head(match["name"], said if match["index"] else None)
