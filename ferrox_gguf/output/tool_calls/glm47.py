"""`<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VAL</arg_value></tool_call>`: GLM 4.5 to 4.7, Laguna, Spark, Ling.

All white space between elements is layout; a value's own is not.
"""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.output.tool_calls.attributes import HEAD_LIMIT, read_label
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.enclosure import Enclosure
from ferrox_gguf.output.tool_calls.tagged import Form, Head, read_call
from ferrox_gguf.output.tool_calls.writer import CallWriter


class PairedTags:
    """Keys and values in elements of their own; the name is what stands between the call's opener and the first key.

    suffix: what every marker carries before its `>`.  separator: may stand behind the name.
    """

    at_start = False

    def __init__(self, opens: str = "", closes: str = "", separator: str = "", suffix: str = "") -> None:
        self._opener, closer = f"<tool_call{suffix}>", f"</tool_call{suffix}>"
        self._key, self._key_end = f"<arg_key{suffix}>", f"</arg_key{suffix}>"
        self._value = f"<arg_value{suffix}>"
        self._separator = separator
        self.triggers: Sequence[str] = tuple(filter(None, (opens, self._opener)))
        self._enclosure = Enclosure(
            tuple(filter(None, (opens,))), tuple(filter(None, (closes,))), begins=(self._opener,)
        )
        self._form = Form(
            self._head,
            (self._key,),
            f"</arg_value{suffix}>",
            closer,
            outer=tuple(filter(None, (closes,))),
            next_call=(self._opener,),
        )

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        return (yield from self._enclosure.read(text, calls, self._call))

    def _call(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        start = text.at
        if (yield from text.take(self._opener)):
            yield from text.space()
            name = yield from text.until(("<", "\n", "{"), limit=HEAD_LIMIT)
            if name is not None and name.strip():
                yield from text.space()
                if self._separator:
                    yield from text.take(self._separator)
                if (yield from read_call(text, calls, name.strip(), self._form)):
                    return True
        text.back(start)
        return False

    def _head(self, text: Cursor) -> Steps[Head | None]:
        start = text.at
        key = yield from read_label(text, self._key, self._key_end)
        if key is not None:
            yield from text.space()
            if (yield from text.take(self._value)):
                return Head(key)
        text.back(start)
        return None


class Glm47(PairedTags):
    """One call a block, no section around them."""
