"""The syntax of a template nobody has seen, from the markers that comparing its renderings found.

Here are the payloads with JSON in them; `posture/differ.py` finds the markers.
"""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.json_payload import Fields
from ferrox_gguf.output.tool_calls.named import NamedSection
from ferrox_gguf.output.tool_calls.section import BareJson, JsonSection
from ferrox_gguf.output.tool_calls.syntax import Syntax
from ferrox_gguf.posture.values import CallMarkers


def json_syntax(markers: CallMarkers) -> Syntax:
    """Name and arguments in one object. Without any marker it is looked for at the message's start only."""
    section, call = (markers.section_open, markers.section_close), (markers.call_open, markers.call_close)
    if not section[0]:
        section, call = call, ("", "")
    syntax = JsonSection() if section[0] else BareJson()
    syntax.openers = (section[0],)
    syntax.closers = (section[1],) if section[1] else ()
    syntax.item = call
    syntax.at_start = not section[0]
    syntax.must_list = markers.array and syntax.at_start
    syntax.keyed = markers.name_as_key
    syntax.fields = Fields(
        (markers.name_field,),
        (markers.arguments_field,),
        (markers.id_field,) if markers.id_field else (),
        only=syntax.fields.only,
    )
    return syntax


def named_syntax(markers: CallMarkers) -> Syntax:
    """The name between markers, the arguments JSON."""
    syntax = NamedSection()
    syntax.openers = (markers.section_open,) if markers.call_open and markers.section_open else ()
    syntax.closers = (markers.section_close,) if markers.section_close else ()
    syntax.call_opener = markers.call_open or markers.section_open
    syntax.separators = (markers.name_close,) if markers.name_close else ("\n", "{")
    syntax.call_closers = (markers.call_close,) if markers.call_close else ()
    return syntax
