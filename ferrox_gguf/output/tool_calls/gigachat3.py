"""`<|message_sep|>`, `function call<|role_sep|>`, then `{"name": NAME, "arguments": {…}}`: GigaChat 3.

The separator also ends a message, so where a server stops on it there is never a call.
"""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.section import JsonSection
from ferrox_gguf.output.tool_calls.writer import CallWriter

SEPARATOR, ROLE = "<|message_sep|>", "function call<|role_sep|>"


class GigaChat3(JsonSection):
    """A call is a message of its own role."""

    openers = (SEPARATOR,)

    def open(self, text: Cursor) -> Steps[bool]:
        yield from text.take(SEPARATOR)
        yield from text.space()
        return (yield from text.take(ROLE))

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        yield from text.take(SEPARATOR)
        yield from text.space()
        if not (yield from text.more()):
            return True  # nothing behind it: it ended the message
        text.back(text.mark)
        return (yield from super().read(text, calls))
