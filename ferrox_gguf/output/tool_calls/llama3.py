"""`{"name": NAME, "parameters": {…}}` at the message's start, or behind `<|python_tag|>`: Llama 3.

Several objects are separated by `; `, `,` or white space. The built-in tools' `<|python_tag|>NAME.call(…)` is text.
"""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.section import BareJson, JsonSection
from ferrox_gguf.output.tool_calls.writer import CallWriter

TAG = "<|python_tag|>"


class Llama3(JsonSection):
    """The tag says that a call is meant; without it the object must look like nothing else (see BareJson)."""

    openers = (TAG,)
    at_start = True

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        tagged = yield from text.take(TAG)
        text.at = text.mark
        if tagged:
            return (yield from super().read(text, calls))
        return (yield from BareJson().read(text, calls))
