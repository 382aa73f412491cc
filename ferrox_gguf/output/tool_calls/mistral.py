"""`[TOOL_CALLS][{"name": NAME, "arguments": {…}, "id": ID}, …]`: Mistral Nemo, v3 and v7."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.json_payload import Fields
from ferrox_gguf.output.tool_calls.section import JsonSection


class Mistral(JsonSection):
    """The list ends itself. The id stands behind the arguments (see LATE_ID)."""

    openers = ("[TOOL_CALLS]",)
    fields = Fields(id=("id",), late_id=True)
