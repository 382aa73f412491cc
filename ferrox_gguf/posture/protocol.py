"""What a template does about thinking before the model says a word (P1)."""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.errors import RequestError
from ferrox_gguf.jinja import CompiledTemplate
from ferrox_gguf.json_types import Json
from ferrox_gguf.posture.open_block import block_state
from ferrox_gguf.posture.values import BlockState, ReasoningFormat, ReasoningProtocol, ReasoningStyle

_QUESTION = "Which way?"
_SHAPES: Sequence[Json] = (_QUESTION, [{"type": "text", "text": _QUESTION}])
_SWITCHES: Sequence[dict[str, Json]] = ({"enable_thinking": True}, {})


def protocol_of(
    template: CompiledTemplate | None, reasoning: ReasoningFormat | None, variables: dict[str, Json], *, certain: bool
) -> ReasoningProtocol:
    """The state that `inspect` and `/props` show.

    certain: "no reasoning format" was found out, rather than nothing being found.
    UNKNOWN also where there is a format and a template that refuses the simplest question.
    """
    if reasoning is None:
        return ReasoningProtocol.NONE if certain else ReasoningProtocol.UNKNOWN
    if template is None:
        return ReasoningProtocol.PROMPT_OPENED if reasoning.always_open else ReasoningProtocol.MODEL_GENERATED
    prompt = generation_prompt(template, variables)
    if prompt is None:
        return ReasoningProtocol.UNKNOWN
    # ATEM's prompt stops inside a header; which channel it becomes is for the model to say.
    opened = reasoning.style is not ReasoningStyle.ATEM and block_state(prompt, reasoning) is BlockState.OPEN
    return ReasoningProtocol.PROMPT_OPENED if opened else ReasoningProtocol.MODEL_GENERATED


def turn_header(template: CompiledTemplate, reasoning: ReasoningFormat) -> str:
    """The last marker that the template writes before an answer, with the words behind it (`<|im_start|>assistant\\n`).

    Markers of the thought itself do not count. "" where the template writes none.
    """
    prompt = generation_prompt(template, {}) or ""
    for marker in (reasoning.opener, reasoning.closer):
        at = prompt.find(marker.strip()) if marker else -1
        prompt = prompt[:at] if at >= 0 else prompt
    at = max(prompt.rfind("<"), prompt.rfind("["))
    return prompt[at:].rstrip() if at >= 0 else ""


def generation_prompt(template: CompiledTemplate, variables: dict[str, Json]) -> str | None:
    """What the template writes behind a user's question, thinking on; None when it refuses."""
    for content in _SHAPES:
        for switches in _SWITCHES:
            try:
                text = template.render([{"role": "user", "content": content}], None, True, **{**variables, **switches})
            except RequestError:
                continue
            if _QUESTION in text:
                return text[text.rindex(_QUESTION) + len(_QUESTION) :]
    return None
