"""The constraint of a template nobody has seen whose calls are tagged throughout, from its compared markers."""

from __future__ import annotations

import re

from ferrox_gguf.errors import NotSupported
from ferrox_gguf.grammar.tools.lines import GAP
from ferrox_gguf.grammar.tools.tagged import KEY, Form, Tagged
from ferrox_gguf.grammar.tools.texts import Ending
from ferrox_gguf.posture.values import CallMarkers


class CustomTagged(Tagged):
    """As `output/tool_calls/custom_tagged.py` reads it: a line break on both sides of a value is layout.

    Raises NotSupported where a marker is missing without which the parts cannot be told apart.
    """

    def __init__(self, markers: CallMarkers) -> None:
        opener, end = markers.call_open or markers.section_open, markers.call_close or markers.section_close
        told_apart = opener and markers.key_open and markers.value_close and end
        if not told_apart or not (markers.key_close or markers.value_open):
            raise NotSupported("tool_choice cannot be enforced for the tool calls of this chat template")
        section = (
            (markers.section_open, markers.section_close) if markers.call_open and markers.section_open else ("", "")
        )
        between = f"{GAP}{markers.value_open}" if markers.value_open else ""
        super().__init__(
            Form(
                section=section,
                call=(f"{opener}NAME{markers.name_close}", end),
                head=lambda key, kind: f"{markers.key_open}{key}{markers.key_close}{between}",
                ending=Ending(markers.value_close, layout=True),
                key=KEY.replace("^", "^" + re.escape(_stoppers(markers)), 1),
            )
        )


def _stoppers(markers: CallMarkers) -> str:
    """First characters of what ends a name or a key."""
    stops = (markers.name_close, markers.key_close, markers.value_open, markers.key_open)
    return "".join(sorted({stop[0] for stop in stops if stop and stop[0] not in "<>"}))
