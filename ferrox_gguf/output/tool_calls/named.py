"""Calls whose name stands between markers and whose arguments are JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.json_payload import read_arguments, read_value
from ferrox_gguf.output.tool_calls.section import Elements, read_elements, read_endings
from ferrox_gguf.output.tool_calls.writer import CallWriter

HEAD = 512
"""Characters in which a call's name (and id) must end: what is longer is prose behind a marker."""


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before the arguments."""

    name: str
    id: str | None = None


class NamedSection:
    """`OPENER CALL_OPENER NAME SEPARATOR {…} CALL_CLOSER … CLOSER`.

    The section's markers and the call's closer may be missing. A subclass whose head has more in it than the name reads
    it itself.
    """

    openers: Sequence[str] = ()
    closers: Sequence[str] = ()
    call_opener: str = ""
    separators: Sequence[str] = ()
    """Any one of these ends the name."""
    call_closers: Sequence[str] = ()
    at_start = False

    @property
    def triggers(self) -> Sequence[str]:
        return (*self.openers, self.call_opener)

    def head(self, text: Cursor) -> Steps[Head | None]:
        """Consume the head, up to where the arguments begin. None: there is none."""
        name = yield from text.until(self.separators, limit=HEAD)
        if name is None:
            return None
        yield from text.take_any(self.separators)
        return Head(name.strip())

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        ends = [*self.call_closers, *self.closers, self.call_opener, *self.openers]

        def element() -> Steps[bool]:
            if not (yield from text.take(self.call_opener)):
                return False
            head = yield from self.head(text)
            tool = None if head is None else calls.offered.find(head.name)
            if head is None or tool is None or not (yield from read_arguments(text, calls, tool, head.id, ends)):
                return False
            yield from read_endings(text, [(closer,) for closer in self.call_closers])
            return True

        def other() -> Steps[bool]:
            if not (yield from text.take(self.call_opener)) or (yield from self.head(text)) is None:
                return False
            yield from text.space()
            yield from read_value(text)  # what it quotes is no marker
            if (yield from text.until(ends)) is None:
                return False
            for closer in self.call_closers:
                yield from text.space()
                yield from text.take(closer)
            return True

        sectioned = yield from text.take_any(self.openers)
        # Calls that stand alone are each begun at their own marker.
        elements = Elements(element, other if sectioned else None, self.call_opener, (), (self.closers,))
        return (yield from read_elements(text, calls, elements))
