"""`<｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME`, a fenced `{…}`, `<｜tool▁call▁end｜>`: DeepSeek R1."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.deepseek_v31 import CALL, CALL_END, SECTION, SECTION_END, SEPARATOR
from ferrox_gguf.output.tool_calls.named import HEAD, Head, NamedSection
from ferrox_gguf.output.tool_calls.section import FENCES


class DeepSeekR1(NamedSection):
    """The line break before the closing fence is optional, and so is the fence."""

    openers = (SECTION,)
    closers = (SECTION_END,)
    call_opener = CALL
    call_closers = ("```", CALL_END)

    def head(self, text: Cursor) -> Steps[Head | None]:
        kind = yield from text.until((SEPARATOR,), limit=HEAD)
        if kind is None:
            return None
        yield from text.take(SEPARATOR)
        name = yield from text.until(("\n", "```", "{"), limit=HEAD)
        if name is None:
            return None
        yield from text.space()
        yield from text.take_any(FENCES)
        return Head(name.strip() or kind.strip())
