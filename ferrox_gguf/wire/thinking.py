"""What a chat request's own fields say about thinking, in every spelling that clients use, and which one wins.

On or off, strongest first: `reasoning_effort: "none"`; `reasoning` (`enabled`, or `effort: "none"`); `think`;
`enable_thinking`. How hard: `reasoning_effort`; `reasoning.effort`; a word in `think`. How long:
`reasoning_budget_tokens`; `thinking_budget_tokens`; `reasoning.max_tokens`. `template/thinking.py` puts them between
`chat_template_kwargs` and the flags.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.request import Thinking
from ferrox_gguf.wire.fields import boolean, first_given, integer, kind, mapping, string

Value = TypeVar("Value")


def parse_thinking(body: JsonObject) -> Thinking:
    reasoning = reasoning_object(body)
    efforts = [
        string(body, "reasoning_effort"),
        string(reasoning, "effort"),
        think_word(body.get("think")),
    ]
    return Thinking(
        enabled=first(
            (
                False if efforts[0] == "none" else None,
                False if efforts[1] == "none" else switch(reasoning, "enabled", "reasoning.enabled"),
                think_switch(body.get("think")),
                switch(body, "enable_thinking", "enable_thinking"),
            )
        ),
        effort=first(effort for effort in efforts if effort not in ("", "none")),
        budget=parse_budget(body, reasoning),
        budget_message=string(body, "reasoning_budget_message") or None,
        controllable=boolean(body, "reasoning_control", False),
    )


def template_keywords(body: JsonObject) -> JsonObject:
    """`chat_template_kwargs`, for the template and for `template/thinking.py`."""
    return mapping(body, "chat_template_kwargs")


def reasoning_object(body: JsonObject) -> JsonObject:
    """`reasoning` as an object; a bare word or boolean there is not an error of ours to find."""
    value = body.get("reasoning")
    return value if isinstance(value, dict) else {}


def switch(body: JsonObject, name: str, path: str) -> bool | None:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise InvalidField(path, f"must be a boolean, not {kind(value)}")
    return value


def think_switch(value: Json) -> bool | None:
    """A word asks for thinking of that strength, so it also switches it on."""
    if isinstance(value, str):
        return value != "none" if value else None
    if value is not None and not isinstance(value, bool):
        raise InvalidField("think", f"must be a boolean or an effort, not {kind(value)}")
    return value


def think_word(value: Json) -> str:
    return value if isinstance(value, str) else ""


def parse_budget(body: JsonObject, reasoning: JsonObject) -> int | None:
    """-1 leaves it to the flag, as in llama-server."""
    name = first_given(body, ("reasoning_budget_tokens", "thinking_budget_tokens"))
    budget = integer(body, name, integer(reasoning, "max_tokens", -1, -1), -1)
    return None if budget == -1 else budget


def first(values: Iterable[Value | None]) -> Value | None:
    return next((value for value in values if value is not None), None)
