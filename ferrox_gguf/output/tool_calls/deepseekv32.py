"""DSML, DeepSeek V3.2 and V4: a block `function_calls` (V4: `tool_calls`) of invocations; their parameters say whether
they are strings."""

from __future__ import annotations

from ferrox_gguf.declared import JSON_TEXT, STRING, Declared
from ferrox_gguf.output.tool_calls.invoked import Invocation, Invoked

INVOKE = Invocation("<｜DSML｜invoke", "</｜DSML｜invoke>", "<｜DSML｜parameter", "</｜DSML｜parameter>")
SECTIONS = [(f"<｜DSML｜{word}>", f"</｜DSML｜{word}>") for word in ("function_calls", "tool_calls")]


class DeepSeekV32(Invoked):
    """Both block words are read, whichever the template writes."""

    def __init__(self) -> None:
        super().__init__(INVOKE, SECTIONS)

    def wire(self, attributes: dict[str, str]) -> Declared | None:
        return {"true": STRING, "false": JSON_TEXT}.get(attributes.get("string", "").lower())
