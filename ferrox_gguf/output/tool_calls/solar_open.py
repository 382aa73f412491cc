"""`<|tool_call:begin|>ID<|tool_call:name|>NAME<|tool_call:args|>{…}<|tool_call:end|>` in a section: Solar Open."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.named import HEAD, Head, NamedSection

NAME = "<|tool_call:name|>"


class SolarOpen(NamedSection):
    """The model writes the ids: ten of a-z and 0-9."""

    openers = ("<|tool_calls|>",)
    closers = ("<|calls|>",)
    call_opener = "<|tool_call:begin|>"
    separators = ("<|tool_call:args|>",)
    call_closers = ("<|tool_call:end|>",)

    def head(self, text: Cursor) -> Steps[Head | None]:
        id = yield from text.until((NAME,), limit=HEAD)
        if id is None:
            return None
        yield from text.take(NAME)
        name = yield from self.name(text)
        return None if name is None else Head(name, id.strip() or None)
