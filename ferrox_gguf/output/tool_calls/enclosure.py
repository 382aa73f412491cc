"""What stands around tagged calls: the markers of a section, text between its calls, calls that were not offered.

`section.py` is the same for JSON payloads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps, held
from ferrox_gguf.output.tool_calls.writer import CallWriter


@dataclass(frozen=True)
class Enclosure:
    """Markers around calls. opens may be empty: calls stand alone then.

    begins: what a call in it begins with.  closes: may be left out by the model, or stand behind a call whose section
    it never opened.
    """

    opens: tuple[str, ...]
    closes: tuple[str, ...]
    begins: tuple[str, ...]

    def read(
        self, text: Cursor, calls: CallWriter, read_one: Callable[[Cursor, CallWriter], Steps[bool]]
    ) -> Steps[bool]:
        """Read a section, or one call outside of any, from its trigger on. False: there is no call's form.

        read_one: reads one call where it stands; False: there is none (what it consumed is given back).
        A call that was not offered becomes content, in its place; with a section of only such calls its markers do.
        """
        before = calls.count
        opened = (yield from text.take_any(self.opens)) is not None
        yield from text.space()
        behind = yield from self._element(text, calls, before, text.at, read_one)
        if behind is None:
            return False
        while not (yield from self._close(text)) and opened:
            yield from text.space()
            if not (yield from text.stands(self.opens)) and (yield from text.stands(self.begins)):
                found = yield from self._element(text, calls, before, behind, read_one)
                if found is not None:
                    behind = found
                    continue
            text.back(behind)
            if calls.count == before or not (yield from self._pass_text(text, calls)):
                break
            if (yield from text.stands(self.opens)):
                break
            behind = text.at
        if calls.count == before:
            calls.content(text.text[text.mark : text.at])
        text.commit()
        return True

    def _element(
        self,
        text: Cursor,
        calls: CallWriter,
        before: int,
        start: int,
        read_one: Callable[[Cursor, CallWriter], Steps[bool]],
    ) -> Steps[int | None]:
        """Read a call. start: where its text begins, with white space. Returns where it ends; None: there is none."""
        count = calls.count
        if not (yield from read_one(text, calls)):
            return None
        if calls.count == count:
            calls.beside(text.text[start : text.at])
        if calls.count > before:
            text.commit()
        return text.at

    def _close(self, text: Cursor) -> Steps[bool]:
        """Consume the section's end, or what has come of it when the output ended inside."""
        behind = text.at
        yield from text.space()
        if (yield from text.take_any(self.closes)) is not None:
            return True
        rest = text.rest()
        if (
            text.end is not None
            and len(rest) > 1
            and any(marker.startswith(rest) for marker in self.closes)
            and not any(marker.startswith(rest) for marker in self.begins)
        ):
            text.at += len(rest)
            return True
        text.back(behind)
        return False

    def _pass_text(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        """Text up to the next marker, one character at least, goes to the content. False: the output has ended."""
        markers = (*self.opens, *self.closes, *self.begins)
        if not (yield from text.more()):
            return False
        searched = text.at + 1
        while True:
            found = [at for at in (text.text.find(marker, searched) for marker in markers) if at >= 0]
            upto = min(found, default=len(text.text))
            if not found and text.end is None:
                upto -= held(text.text[searched:], markers)
            calls.content(text.text[text.at : upto])
            text.at = upto
            text.commit()
            searched = text.at
            if found or text.end is not None:
                return bool(found)
            yield
