"""Calls whose name stands between markers and whose arguments are JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ferrox_gguf.output.tool_calls.arguments import read_arguments, read_value
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
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

    @property
    def ends(self) -> Sequence[str]:
        """What ends a call: its closer, the section's, or the next opener."""
        return (*self.call_closers, *self.closers, self.call_opener, *self.openers)

    def head(self, text: Cursor) -> Steps[Head | None]:
        """Consume the head, up to where the arguments begin. None: there is none."""
        name = yield from self.name(text)
        return None if name is None else Head(name)

    def name(self, text: Cursor) -> Steps[str | None]:
        """Consume a name and what separates it from the arguments; a closer (which stays) says that there are none."""
        name = yield from text.until((*self.separators, *self.ends), limit=HEAD)
        if name is None:
            return None
        separated = (yield from text.take_any(self.separators)) is not None
        if not separated and not (yield from text.stands((*self.call_closers, *self.closers))):
            return None
        return name.strip()

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        sectioned = yield from text.take_any(self.openers)
        elements = Elements(
            read=lambda: self._call(text, calls),
            # Calls that stand alone are each begun at their own marker.
            skip=(lambda: self._other(text)) if sectioned else None,
            begins=self.call_opener,
            endings=(self.closers,),
        )
        return (yield from read_elements(text, calls, elements))

    def _call(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        if not (yield from text.take(self.call_opener)):
            return False
        head = yield from self.head(text)
        tool = None if head is None else calls.offered.find(head.name)
        if head is None or tool is None or not (yield from read_arguments(text, calls, tool, head.id, self.ends)):
            return False
        yield from read_endings(text, [(closer,) for closer in self.call_closers])
        return True

    def _other(self, text: Cursor) -> Steps[bool]:
        """A call of a tool that was not offered, or something else in a call's markers."""
        if not (yield from text.take(self.call_opener)):
            return False
        yield from self.head(text)
        yield from text.space()
        yield from read_value(text)  # what it quotes is no marker
        if (yield from text.until(self.ends)) is None:
            return False
        for closer in self.call_closers:
            behind = text.at
            yield from text.space()
            if not (yield from text.take(closer)):
                text.at = behind
        return True
