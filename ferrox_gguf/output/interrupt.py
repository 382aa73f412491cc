"""Calls that a model makes without having closed its thought.

Rule: wire formats, section 0, calls 8. From a tool marker on the thought is held. It is a call when it parses as one of
an offered tool, unless the closer follows within 512 bytes of the marker: then the model only quoted it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from ferrox_gguf.events import ContentDelta, OutputEvent, ToolCallEnd, ToolCallStart
from ferrox_gguf.output.lookout import Lookout
from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.tool_calls import Syntax, ToolCallSplitter
from ferrox_gguf.request import Tool

QUOTATION = 512
"""Bytes from the marker to the closer's end within which the marker was only quoted; of text, never of pushes."""

NEVER_INTERRUPTS = ("<function=",)
"""Triggers that are too close to prose to end a thought by themselves (wire formats, 3.4)."""


class Verdict(Enum):
    """OPEN: more text is needed.  CALL: a call begins at the marker.  TEXT: none does; the thought goes on behind it.

    QUOTED: the thought was closed, `length` characters behind the marker's begin.
    """

    OPEN = "open"
    CALL = "call"
    TEXT = "text"
    QUOTED = "quoted"


class Interruption:
    """One marker on trial. The first push begins with the marker; where the text is cut never changes the verdict.

    closer: as it stands in the stream.  spell: the stream's text as the model's characters.
    """

    def __init__(
        self, syntaxes: Sequence[Syntax], tools: Sequence[Tool], closer: str, spell: Callable[[str], str]
    ) -> None:
        self._calls = ToolCallSplitter(syntaxes, tools)
        self._closer = Lookout([closer])
        self._spell = spell
        self._held = ""  # a tail that may become the closer: not shown to the syntaxes
        self._bytes = 0
        self._started = self._whole = self._failed = False
        self.length = 0

    def push(self, text: str) -> Verdict:
        text = self._held + text
        at, closer = self._closer.find(text)
        self._read(text[:at])
        if self._failed:
            return Verdict.TEXT
        self.length += at
        self._bytes += self._size(text[:at])
        self._held = text[at:] if not closer else ""
        far = self._bytes + self._size(closer or self._held) > QUOTATION
        if closer:
            return Verdict.CALL if self._started and far else Verdict.QUOTED
        return Verdict.CALL if self._whole and far else Verdict.OPEN

    def flush(self, end: End) -> Verdict:
        self._read(self._held)
        self._note(self._calls.flush(end))
        return Verdict.CALL if self._whole else Verdict.TEXT

    def _read(self, text: str) -> None:
        if text:
            self._note(self._calls.push(self._spell(text)))

    def _note(self, events: Sequence[OutputEvent]) -> None:
        for event in events:
            if isinstance(event, ContentDelta):
                self._failed = self._failed or not self._started
            elif isinstance(event, ToolCallStart):
                self._started = True
            elif isinstance(event, ToolCallEnd) and event.whole:
                self._whole = True

    def _size(self, text: str) -> int:
        return len(self._spell(text).encode("utf-8", errors="surrogatepass"))
