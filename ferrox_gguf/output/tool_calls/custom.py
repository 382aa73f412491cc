"""The syntax of a template nobody has seen, from the markers that comparing its renderings found.

Here are the payloads with JSON in them (`custom_tagged.py` has the others); `posture/differ/` finds the markers. White
space inside a marker is layout: models do not keep to the template's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.json_payload import Fields
from ferrox_gguf.output.tool_calls.named import HEAD, Head, NamedSection
from ferrox_gguf.output.tool_calls.section import BareJson, JsonSection
from ferrox_gguf.output.tool_calls.syntax import Syntax
from ferrox_gguf.posture.values import CallMarkers

_ID = re.compile(r"\s*(?P<id>[\w.:-]{1,64})\s*(?:\[[^][<>]{1,40}\]|<[^][<>]{1,40}>)\s*")


def json_syntax(markers: CallMarkers) -> Syntax:
    """Name and arguments in one object. Without any marker it is looked for at the message's start only."""
    if not markers.section_open and not markers.call_open:
        return CustomBare(markers)
    return CustomJson(markers)


def named_syntax(markers: CallMarkers) -> Syntax:
    """The name between markers, the arguments JSON."""
    return CustomNamed(markers)


class CustomJson(JsonSection):
    """One section, or, where there is no marker around several calls, one call after the other."""

    def __init__(self, markers: CallMarkers) -> None:
        section, call = (markers.section_open, markers.section_close), (markers.call_open, markers.call_close)
        if not section[0]:
            section, call = call, ("", "")
        self._words = section[0].split()
        self.openers = (section[0],)
        self.closers = (section[1],) if section[1] else ()
        self.item = call
        # A word in place of a marker begins a call only where the list follows.
        self.must_list = markers.array and section[0][0] not in "<["
        self.keyed = markers.name_as_key
        self.fields = _fields(markers)

    @property
    def triggers(self) -> Sequence[str]:
        return self._words[:1]

    def open(self, text: Cursor) -> Steps[bool]:
        for word in self._words:
            yield from text.space()
            if not (yield from text.take(word)):
                return False
        return True


class CustomBare(BareJson):
    """Calls with nothing around them but, perhaps, a list's brackets."""

    at_start = True

    def __init__(self, markers: CallMarkers) -> None:
        self.must_list = markers.array
        self.keyed = markers.name_as_key
        self.fields = _fields(markers, only=BareJson.fields.only)


class CustomNamed(NamedSection):
    """An id and one more marker may stand between the name and the arguments: it shows in the output only."""

    def __init__(self, markers: CallMarkers) -> None:
        self.openers = (markers.section_open,) if markers.call_open and markers.section_open else ()
        self.closers = (markers.section_close,) if markers.section_close else ()
        self.call_opener = markers.call_open or markers.section_open
        self.separators = (markers.name_close,) if markers.name_close else ()
        self.call_closers = (markers.call_close,) if markers.call_close else ()

    @property
    def triggers(self) -> Sequence[str]:
        return super().triggers if self.call_opener else ()

    def head(self, text: Cursor) -> Steps[Head | None]:
        if not self.separators:
            bare = yield from text.until(("{", *self.ends), limit=HEAD)
            return None if bare is None else Head(bare.strip())
        name = yield from self.name(text)
        if name is None:
            return None
        start = text.at
        between = yield from text.until(("{", *self.ends), limit=HEAD)
        if between is not None and (match := _ID.fullmatch(between)) is not None:
            return Head(name, match["id"])
        text.back(start)
        return Head(name)


def _fields(markers: CallMarkers, only: tuple[str, ...] | None = None) -> Fields:
    ids = (markers.id_field,) if markers.id_field else ()
    return Fields((markers.name_field,), (markers.arguments_field,), ids, late_id=bool(ids), only=only)
