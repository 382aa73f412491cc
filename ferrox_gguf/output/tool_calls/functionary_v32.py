"""`>>>NAME`, a line break, `{…}`: Functionary v3.2. The prompt ends with the first `>>>`.

`all` is the recipient of text: `all\\nTXT`. A part's JSON is read to its end, so a `>>>` in it is no marker.
"""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.output.tool_calls.arguments import read_arguments
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.named import HEAD
from ferrox_gguf.output.tool_calls.writer import CallWriter

MARKER, EVERYBODY = ">>>", "all\n"


class FunctionaryV32:
    """A recipient's line that is neither an offered tool's, with an object behind it, nor `all` is text."""

    triggers: Sequence[str] = (MARKER,)
    at_start = True
    headers: Sequence[str] = (EVERYBODY,)

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        yield from text.take(MARKER)
        if (yield from text.take(EVERYBODY)):
            text.commit()
            return True
        name = yield from text.until(("\n",), limit=HEAD)
        tool = None if name is None else calls.offered.find(name.strip())
        if tool is None:
            return False
        return (yield from read_arguments(text, calls, tool, None, (MARKER,)))
