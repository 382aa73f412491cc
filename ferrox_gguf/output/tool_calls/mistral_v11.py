"""`[TOOL_CALLS]NAME[CALL_ID]ID[ARGS]{…}`, repeated for each call: Mistral Small 3.2, Devstral, Ministral 3."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.named import HEAD, Head, NamedSection

ID, ARGUMENTS = "[CALL_ID]", "[ARGS]"


class MistralV11(NamedSection):
    """Most of these models write no id."""

    call_opener = "[TOOL_CALLS]"
    separators = (ID, ARGUMENTS)

    def head(self, text: Cursor) -> Steps[Head | None]:
        name = yield from text.until(self.separators, limit=HEAD)
        if name is None:
            return None
        id: str | None = None
        if (yield from text.take(ID)):
            id = yield from text.until((ARGUMENTS,), limit=HEAD)
            if id is None:
                return None
        yield from text.take(ARGUMENTS)
        return Head(name.strip(), (id or "").strip() or None)
