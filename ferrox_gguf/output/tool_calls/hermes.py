"""`<tool_call>{"name": NAME, "arguments": {…}}</tool_call>`: Hermes, Qwen, and what our own preamble teaches."""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.json_payload import read_call
from ferrox_gguf.output.tool_calls.writer import CallWriter

OPENER, CLOSER = "<tool_call>", "</tool_call>"


class Hermes:
    """One object a block; blocks repeat. The closing marker may be missing."""

    triggers: Sequence[str] = (OPENER,)
    at_start = False

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        yield from text.take(OPENER)
        yield from text.space()
        # The next call's opener also ends one whose last brace was dropped.
        if not (yield from read_call(text, calls, closers=(CLOSER, OPENER))):
            return False
        behind = text.at
        yield from text.space()
        if not (yield from text.take(CLOSER)):
            text.at = behind
        text.commit()
        return True
