"""What a syntax says of the calls it reads: the only way from a syntax to events."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ferrox_gguf.events import OutputEvent, ToolCallArguments, ToolCallEnd, ToolCallStart
from ferrox_gguf.output.tool_calls.offered import Offered
from ferrox_gguf.request import Tool


class CallWriter:
    """Numbers the calls of one message and collects their events.

    started: at least one call was begun (which fixes the message's form).  open: a call is begun and not finished.
    content(text): text inside a section that is no call (an unoffered one), given back to the answer in its place.
    beside(text): the same for text of a section that may not have a call at all: it is shown in front of the section's
    first call, and forgotten if there is none (the section's whole text is content then).
    """

    def __init__(self, tools: Sequence[Tool], content: Callable[[str], None], events: list[OutputEvent]) -> None:
        self.offered = Offered(tools)
        self.content = content
        self._events = events
        self._next = 0
        self._before = 0
        self._beside: list[str] = []
        self.open = False

    @property
    def count(self) -> int:
        """Calls begun so far."""
        return self._next

    @property
    def started(self) -> bool:
        return self._next > 0

    def attempt(self) -> None:
        """A syntax begins to read (the splitter says so)."""
        self._before = self._next
        self._beside.clear()

    def beside(self, text: str) -> None:
        if self._next > self._before:
            self.content(text)
        else:
            self._beside.append(text)

    def start(self, name: str, id: str | None = None) -> None:
        """Begin a call. name: as offered (see Offered.find), its arguments have begun or are known to be none."""
        assert not self.open, "a call begins inside another"
        for text in self._beside:
            self.content(text)
        self._beside.clear()
        self._events.append(ToolCallStart(self._next, name, id))
        self._next += 1
        self.open = True

    def arguments(self, fragment: str) -> None:
        """Append to the open call's compact JSON."""
        assert self.open, "arguments outside a call"
        if not fragment:
            return
        last = self._events[-1] if self._events else None
        if isinstance(last, ToolCallArguments):
            self._events[-1] = ToolCallArguments(last.index, last.fragment + fragment)
        else:
            self._events.append(ToolCallArguments(self._next - 1, fragment))

    def finish(self, whole: bool = True) -> None:
        """End the open call. whole: its arguments were not cut."""
        assert self.open, "a call ends that never began"
        self._events.append(ToolCallEnd(self._next - 1, whole))
        self.open = False
