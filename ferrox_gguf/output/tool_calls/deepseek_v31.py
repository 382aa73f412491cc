"""`<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{…}<｜tool▁call▁end｜>` in a section: DeepSeek V3.1."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.named import NamedSection

SECTION, SECTION_END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
CALL, SEPARATOR, CALL_END = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"


class DeepSeekV31(NamedSection):
    """Calls abut."""

    openers = (SECTION,)
    closers = (SECTION_END,)
    call_opener = CALL
    separators = (SEPARATOR,)
    call_closers = (CALL_END,)
