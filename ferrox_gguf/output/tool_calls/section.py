"""Calls that stand together between markers: what all such syntaxes do alike.

A syntax says what one element looks like; here is the walk from one to the next: separators, elements that are no call
of an offered tool (they become content, the others are still calls), and the closing markup, which may be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.tool_calls.arguments import read_value
from ferrox_gguf.output.tool_calls.cursor import SPACE, Cursor, Steps
from ferrox_gguf.output.tool_calls.json_payload import HERMES, Fields, read_call, read_keyed
from ferrox_gguf.output.tool_calls.writer import CallWriter

FENCES = ("```json", "```")


@dataclass(frozen=True, slots=True)
class Elements:
    """How the calls of one section are read.

    read: a call at the cursor, True when it was one (and is committed).
    skip: consumes one element that is no call, True when there was one; None: the section ends there.
    begins: what every element begins with.  separators: may stand between two.
    endings: what may follow the last, in this order, each of them optional; the last may be repeated.
    """

    read: Callable[[], Steps[bool]]
    skip: Callable[[], Steps[bool]] | None
    begins: str
    separators: Sequence[str] = ()
    endings: Sequence[Sequence[str]] = ()


def read_elements(text: Cursor, calls: CallWriter, elements: Elements) -> Steps[bool]:
    """Read the section whose first element comes next. True: it had a call; False: it is text."""
    first = calls.count
    seen = False
    while True:
        behind = text.at
        yield from text.space()
        if seen and elements.separators:
            yield from text.take_any(elements.separators)
            yield from text.space()
        start = text.at
        if (yield from elements.read()):
            seen = True
            continue
        text.back(start)
        if elements.skip is None or not (yield from elements.skip()):
            # The comma before an element that was cut, or before the section's end, is no content.
            text.back(start)
            if not (yield from text.stands([elements.begins, *chain.from_iterable(elements.endings)])):
                text.at = behind
            break
        seen = True
        calls.beside(text.text[start : text.at])
        if calls.count > first:
            text.commit()
    if calls.count == first:
        return False
    yield from read_endings(text, elements.endings)
    return True


def read_endings(text: Cursor, endings: Sequence[Sequence[str]]) -> Steps[None]:
    """Consume the closing markup that stands here, as far as there is any. Decides everything up to there.

    Markup that a limit cut in two is markup, too.
    """
    behind = text.at
    for closers in endings:
        repeated = closers is endings[-1]
        while closers:
            yield from text.space()
            if (yield from text.take_any(closers)) is None:
                break
            behind = text.at
            if not repeated:
                break
        text.at = behind
    rest = text.rest().lstrip(SPACE) if text.end is End.CUT else ""
    if rest and any(closer.startswith(rest) for closer in chain.from_iterable(endings)):
        text.at = len(text.text)
    text.commit()


class JsonSection:
    """`OPENER [{"name": NAME, "arguments": {…}}, …] CLOSER` and what models make of it.

    The list's brackets, a Markdown fence around it, and the closer may be missing; a subclass that must have the list
    says so. What is no offered call is given back as text, so nothing is lost by reading liberally.
    """

    openers: Sequence[str] = ()
    closers: Sequence[str] = ()
    item: tuple[str, str] = ("", "")
    """Markers around each element."""
    fields: Fields = HERMES
    keyed = False
    """The name is the key: `{"NAME": {…}}`."""
    must_list = False
    separators: Sequence[str] = (",", ";")
    at_start = False

    @property
    def triggers(self) -> Sequence[str]:
        return [opener for opener in self.openers if opener]

    def open(self, text: Cursor) -> Steps[bool]:
        """Consume what opens the section. False: it is none."""
        return (yield from text.take_any(self.openers)) is not None

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        if not (yield from self.open(text)):
            return False
        yield from text.space()
        fenced = yield from text.take_any(FENCES)
        yield from text.space()
        listed = yield from text.take("[")
        if self.must_list and not listed:
            return False
        endings: list[Sequence[str]] = [("]",)] if listed else []
        if fenced:
            endings.append(("```",))
        elements = Elements(
            read=lambda: self._call(text, calls, listed),
            skip=lambda: self._other(text),
            begins=self.item[0] or "{",
            separators=self.separators,
            endings=[*endings, self.closers],
        )
        return (yield from read_elements(text, calls, elements))

    def _call(self, text: Cursor, calls: CallWriter, listed: bool = False) -> Steps[bool]:
        if self.item[0] and not (yield from text.take(self.item[0])):
            return False
        yield from text.space()
        # The next call's opener also ends one whose last brace was dropped.
        ends = [marker for marker in (*self.item, *self.closers, *self.openers, "```") if marker]
        if self.keyed:
            called = yield from read_keyed(text, calls, ends, listed=listed)
        else:
            called = yield from read_call(text, calls, ends, self.fields, listed=listed)
        if called and self.item[1]:
            yield from read_endings(text, ((self.item[1],),))
        return called

    def _other(self, text: Cursor) -> Steps[bool]:
        """An object that is no call of an offered tool."""
        if self.item[0] and not (yield from text.take(self.item[0])):
            return False
        yield from text.space()
        if not text.text.startswith("{", text.at) or (yield from read_value(text)) is None:
            return False
        if self.item[1]:
            behind = text.at
            yield from text.space()
            if not (yield from text.take(self.item[1])):
                text.at = behind
        return True


class BareJson(JsonSection):
    """Calls in JSON with nothing around them: objects made of a call's fields and nothing else.

    So an answer in JSON is not held to its end because it may yet name a tool (section 0, calls 9).
    """

    fields = Fields(only=("type", "id"))

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        if self.must_list and not (yield from text.take("[")):
            return False
        elements = Elements(
            read=lambda: self._call(text, calls, self.must_list),
            skip=None,
            begins="{",
            separators=self.separators,
            endings=(("]",),) if self.must_list else (),
        )
        return (yield from read_elements(text, calls, elements))
