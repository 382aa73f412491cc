"""Renders small conversations to see what a template does with them. Knows no families.

Every sentence is one that no template contains, so that finding it in the text proves that the template printed it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from ferrox_gguf.errors import RequestError
from ferrox_gguf.jinja import CompiledTemplate
from ferrox_gguf.json_types import Json, JsonObject

SYSTEM = "Sy5temSentence"
LATE = "LaterSy5tem"
USER = "Qu3stionSentence"
SECOND = "Sec0ndQuestion"
ANSWER = "An5werSentence"
THOUGHT = "Th0ughtSentence"
RESULT = "Re5ultSentence"
SECOND_RESULT = "An0therResult"
TOOL = "probe_w3ather"
SECOND_TOOL = "probe_t1me"
KEY = "c1tyname"
VALUE = "R0mevalue"
SHORT_IDS = ("a1b2c3d4e", "f5g6h7i8j")
LONG_IDS = ("call_pr0be_identifier_1", "call_pr0be_identifier_2")

SECONDS = 10.0
"""All probes of one template together: a template that needs longer is not asked further."""


class Probe:
    """One template under question. A render that raises means "no", whatever it raised."""

    def __init__(self, template: CompiledTemplate, variables: Mapping[str, Json]) -> None:
        self._template, self._variables = template, dict(variables)
        self._deadline = time.monotonic() + SECONDS

    def text(
        self,
        messages: Sequence[JsonObject],
        tools: Sequence[JsonObject] | None = None,
        generation_prompt: bool = False,
        **variables: Json,
    ) -> str | None:
        """The rendering, or None when the template refuses or breaks."""
        if time.monotonic() > self._deadline:
            return None
        given: dict[str, Json] = {**self._variables, **variables}
        try:
            return self._template.render(messages, tools, generation_prompt, **given)
        except RequestError:
            return None

    def shows(
        self,
        messages: Sequence[JsonObject],
        *wanted: str,
        tools: Sequence[JsonObject] | None = None,
        unwanted: Sequence[str] = (),
    ) -> bool:
        """Does the rendering hold each of the wanted texts, and none of the unwanted?"""
        text = self.text(messages, tools)
        return text is not None and all(one in text for one in wanted) and not any(one in text for one in unwanted)


def said(role: str, content: Json, **fields: Json) -> dict[str, Json]:
    """One message."""
    return {"role": role, "content": content, **fields}


def parts(*texts: str) -> list[Json]:
    """Content as a list of text parts."""
    return [{"type": "text", "text": text} for text in texts]


def call(name: str, arguments: Json, id: str = SHORT_IDS[0]) -> dict[str, Json]:
    """One entry of `tool_calls`."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def tool(name: str, **fields: Json) -> dict[str, Json]:
    """One tool with one string parameter."""
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {KEY: {"type": "string", "description": "a city"}},
        "required": [KEY],
    }
    return {"type": "function", "function": {"name": name, "description": "looks", "parameters": schema, **fields}}
