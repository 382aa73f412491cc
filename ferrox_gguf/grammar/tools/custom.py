"""The constraint of a template nobody has seen, from the markers that comparing its renderings found.

Here are the payloads with JSON in them (`custom_tagged.py` has the others), as `output/tool_calls/custom.py` reads
them.
"""

from __future__ import annotations

from ferrox_gguf.errors import NotSupported
from ferrox_gguf.grammar.tools.custom_tagged import CustomTagged
from ferrox_gguf.grammar.tools.json_form import JsonForm
from ferrox_gguf.grammar.tools.rules import CallRules
from ferrox_gguf.posture.values import CallMarkers


class Custom:
    """Chooses by the markers' payload."""

    def lark(self, rules: CallRules) -> str:
        markers = rules.markers
        if markers is not None and markers.payload == "json":
            return CustomJson(markers).lark(rules)
        if markers is not None and markers.payload == "name_json" and (markers.call_open or markers.section_open):
            return CustomNamed(markers).lark(rules)
        if markers is not None and markers.payload == "tagged":
            return CustomTagged(markers).lark(rules)
        raise NotSupported("tool_choice cannot be enforced for the tool calls of this chat template")


class CustomJson(JsonForm):
    """Name and arguments in one object."""

    id = "[a-zA-Z0-9]{9}"

    def __init__(self, markers: CallMarkers) -> None:
        name, arguments = (f'"{field}": ' for field in (markers.name_field, markers.arguments_field))
        payload = "{$quoted: $arguments}" if markers.name_as_key else f"{{{name}$quoted, {arguments}$arguments}}"
        if markers.id_field and not markers.name_as_key:
            payload = f'{payload[:-1]}, "{markers.id_field}": "$id"}}'
        self.call = f"{markers.call_open}$layout{payload}$layout{markers.call_close}"
        self.opener = f"{markers.section_open}$layout" + ("[" if markers.array else "")
        self.closer = ("]" if markers.array else "") + markers.section_close
        self.separator = ", " if markers.array else "$layout"


class CustomNamed(JsonForm):
    """The name between markers, the arguments JSON."""

    def __init__(self, markers: CallMarkers) -> None:
        call_open, section_open = markers.call_open, markers.section_open
        self.call = f"{call_open or section_open}$layout$name{markers.name_close}$layout$arguments{markers.call_close}"
        self.opener = f"{section_open}$layout" if call_open and section_open else ""
        self.closer = markers.section_close
        self.separator = "$layout"
