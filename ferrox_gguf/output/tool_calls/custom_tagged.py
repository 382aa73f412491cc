"""The syntax of a template nobody has seen whose calls are tagged throughout (with JSON in them: `custom.py`)."""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.output.tool_calls.attributes import HEAD_LIMIT
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.enclosure import Enclosure
from ferrox_gguf.output.tool_calls.syntax import Syntax
from ferrox_gguf.output.tool_calls.tagged import Form, Head, read_call
from ferrox_gguf.output.tool_calls.writer import CallWriter
from ferrox_gguf.posture.values import CallMarkers


def tagged_syntax(markers: CallMarkers) -> Syntax:
    """Name, keys and values between markers, white space around them being layout."""
    return CustomTagged(markers)


class CustomTagged:
    """A call opens with `call_open`, or with the section's opener where there is no other.

    Nothing is read if a marker is missing without which the parts cannot be told apart.
    """

    at_start = False

    def __init__(self, markers: CallMarkers) -> None:
        self._markers = markers
        self._opener = markers.call_open or markers.section_open
        opens = (markers.section_open,) if markers.call_open and markers.section_open else ()
        closes = (markers.section_close,) if markers.section_close else ()
        end = markers.call_close or markers.section_close
        readable = self._opener and markers.key_open and markers.value_close and end
        self.triggers: Sequence[str] = (*opens, self._opener) if readable else ()
        self._enclosure = Enclosure(opens, closes, begins=(self._opener,))
        self._form = Form(
            self._head,
            (markers.key_open,),
            markers.value_close,
            end,
            outer=closes,
            next_call=(*opens, self._opener),
            layout=True,
            doubtful=True,
        )

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        return (yield from self._enclosure.read(text, calls, self._call))

    def _call(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        start = text.at
        if (yield from text.take(self._opener)):
            yield from text.space()
            stops = (self._markers.name_close,) if self._markers.name_close else ("\n", "<", self._markers.key_open)
            name = yield from text.until((*stops, *self._form.ends), limit=HEAD_LIMIT)
            if name is not None and name.strip():
                yield from text.space()
                yield from text.take(self._markers.name_close)
                if (yield from read_call(text, calls, name.strip(), self._form)):
                    return True
        text.back(start)
        return False

    def _head(self, text: Cursor) -> Steps[Head | None]:
        markers, start = self._markers, text.at
        if (yield from text.take(markers.key_open)):
            stops = tuple(filter(None, (markers.key_close or markers.value_open, "\n")))
            key = yield from text.until(stops, limit=HEAD_LIMIT)
            if key is not None and key.strip() and (yield from text.take(markers.key_close)):
                value = text.at
                yield from text.space()
                if not markers.value_open:
                    text.at = value
                    return Head(key.strip())
                if (yield from text.take(markers.value_open)):
                    return Head(key.strip())
        text.back(start)
        return None
