"""One template under question: small conversations in every shape that templates take, rendered or refused."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ferrox_gguf.errors import RequestError
from ferrox_gguf.jinja import CompiledTemplate
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.posture.differ.words import ANSWER, IDS, KEYS, QUESTION, RESULT, THOUGHT, TOOLS

_KEEP_THOUGHTS: Mapping[str, Json] = {
    "preserve_thinking": True,
    "keep_past_thinking": True,
    "clear_thinking": False,
    "truncate_history_thinking": False,
    "drop_thinking": False,
}
SWITCHES: Sequence[tuple[Mapping[str, Json], Mapping[str, Json]]] = (
    ({"enable_thinking": True}, {"enable_thinking": False}),
    ({"thinking": True}, {"thinking": False}),
    ({"thinking_mode": "enabled"}, {"thinking_mode": "disabled"}),
    ({"reasoning_effort": "high"}, {"reasoning_effort": "none"}),
    ({"reasoning_effort": "high"}, {"reasoning_effort": "no_think"}),
)
"""On and off, by every name that templates are known to use for the switch."""

_TOOLS: Sequence[JsonObject] = tuple(
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "does it",
            "parameters": {
                "type": "object",
                "properties": {key: {"type": "string", "description": "a word"} for key in KEYS},
                "required": list(KEYS),
            },
        },
    }
    for name in TOOLS
)


@dataclass(frozen=True, slots=True)
class Call:
    """A past call to render. arguments: values by key."""

    name: str
    arguments: Mapping[str, str]
    id: str = IDS[0]


SECONDS = 5.0
"""For all renderings of one Probe: a template that needs longer is not asked further."""


class Probe:
    """Renders turns. Every method returns None where the template refuses, breaks, or loses the question."""

    def __init__(self, template: CompiledTemplate, variables: Mapping[str, Json]) -> None:
        self._deadline = time.monotonic() + SECONDS
        self._template, self._variables = template, dict(variables)
        self.source = template.source
        self._parts = self._text([self._user(parts=False)]) is None

    def prompt(self, switches: Mapping[str, Json]) -> str | None:
        """What the generation prompt adds behind the question, under these switches."""
        text = self._text([self._user()], generation_prompt=True, switches=switches)
        return None if text is None else text[text.rindex(QUESTION) + len(QUESTION) :]

    def answered(self, *, followed: bool = False) -> str | None:
        """A turn with a plain answer; followed: and the user's next question."""
        turns = [self._user(), self._assistant(ANSWER)]
        return self._text([*turns, self._user()] if followed else turns)

    def thought(self) -> Iterator[tuple[str, str]]:
        """The same turn without and with a thought, for each way of giving one that shows in the text."""
        call = self._calls([Call(TOOLS[0], {KEYS[0]: "x"})], as_object=True)
        result: dict[str, Json] = {"role": "tool", "content": RESULT, "tool_call_id": IDS[0], "name": TOOLS[0]}
        for fields in ({"content": self._content(ANSWER)}, {"content": "", "tool_calls": call}):
            behind = [result] if "tool_calls" in fields else []
            plain: dict[str, Json] = {"role": "assistant", **fields}
            without = self._text([self._user(), plain, *behind])
            for thinking in _with_thought(plain):
                text = self._text([self._user(), thinking, *behind])
                if without is not None and text is not None and THOUGHT in text and f"'{THOUGHT}'" not in text:
                    yield without, text

    def called(self, *calls: Call) -> str | None:
        """A turn with these calls, in the first shape that shows them whole."""
        for content in ("", None):
            for as_object in (True, False):
                turn: dict[str, Json] = {
                    "role": "assistant",
                    "content": content,
                    "tool_calls": self._calls(calls, as_object=as_object),
                }
                text = self._text([self._user(), turn], tools=_TOOLS)
                if text is not None and _shows(text, calls):
                    return text
        return None

    def answered_with_tools(self) -> str | None:
        return self._text([self._user(), self._assistant(ANSWER)], tools=_TOOLS)

    def _user(self, parts: bool | None = None) -> dict[str, Json]:
        return {"role": "user", "content": self._content(QUESTION) if parts is None else QUESTION}

    def _assistant(self, text: str) -> dict[str, Json]:
        return {"role": "assistant", "content": self._content(text)}

    def _content(self, text: str) -> Json:
        return [{"type": "text", "text": text}] if self._parts else text

    @staticmethod
    def _calls(calls: Sequence[Call], *, as_object: bool) -> Json:
        return [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": dict(call.arguments) if as_object else json.dumps(dict(call.arguments)),
                },
            }
            for call in calls
        ]

    def _text(
        self,
        messages: Sequence[JsonObject],
        *,
        tools: Sequence[JsonObject] | None = None,
        generation_prompt: bool = False,
        switches: Mapping[str, Json] | None = None,
    ) -> str | None:
        chosen = SWITCHES[0][0] if switches is None else switches
        for extra in ({**_KEEP_THOUGHTS, **chosen}, chosen):
            if time.monotonic() > self._deadline:
                return None
            try:
                text = self._template.render(messages, tools, generation_prompt, **{**self._variables, **extra})
            except RequestError:
                continue
            return text if QUESTION in text else None
        return None


def _with_thought(message: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    """The message with a thought, in every field in which templates are known to look for one."""
    for field in ("reasoning_content", "thinking", "reasoning"):
        yield {**message, field: THOUGHT}
    content = message["content"]
    rest: list[Json] = list(content) if isinstance(content, list) else [{"type": "text", "text": content}]
    yield {**message, "content": [{"type": "thinking", "thinking": THOUGHT}, *rest]}
    if isinstance(content, str):
        blocks: list[Json] = [{"type": "thoughts", "text": THOUGHT}, {"type": "response", "text": content}]
        yield {**message, "content": {"blocks": blocks}}


def _shows(text: str, calls: Sequence[Call]) -> bool:
    """Names and values are there behind the question, and no key stands in a JSON string inside JSON."""
    behind = text[text.index(QUESTION) :]
    return all(
        call.name in behind
        and all(
            key in behind and value in behind and f'\\"{key}' not in behind for key, value in call.arguments.items()
        )
        for call in calls
    )
