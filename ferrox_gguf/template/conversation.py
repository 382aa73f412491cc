"""One conversation in the shape of its template: its renderings, and the part of them that is there for this turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ferrox_gguf.errors import RequestError, TemplateFailed
from ferrox_gguf.jinja import CompiledTemplate
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.request import Tool
from ferrox_gguf.template.tool_schemas import all_described, all_plain

_MARK = "hErE5tandsTheLastMe55age"


class Conversation:
    """Shaped messages, tools and variables, for the few renderings that one request needs."""

    def __init__(
        self,
        template: CompiledTemplate,
        messages: Sequence[JsonObject],
        tools: Sequence[Tool],
        variables: Mapping[str, Json],
    ) -> None:
        self._template, self._messages, self._offered = template, messages, tools
        self._tools = all_described(tools)
        self._variables = dict(variables)

    def text(self, *, generation_prompt: bool) -> str:
        """The whole rendering. Raises TemplateRefused or TemplateFailed."""
        text = self._rendered(self._messages, generation_prompt)
        # gpt-oss samples <|return|>; in a history its message ends like every other.
        return f"{text.removesuffix('<|return|>')}<|end|>" if text.endswith("<|return|>") else text

    def added(self, full: str) -> str:
        """The end of the rendering that is there for the coming turn: what a rendering without it lacks.

        Templates that always add it (Command R7B), or add it with a tool's result (DeepSeek V3.2), show no difference:
        there it is what follows the last message's own text.
        """
        try:
            closed = self.text(generation_prompt=False)
        except RequestError:
            closed = full
        return full[_common(full, closed) :] if closed != full else self._after_last_text(full)

    def _after_last_text(self, full: str) -> str:
        if not self._messages:
            return ""
        *earlier, last = self._messages
        try:
            marked = self._rendered([*earlier, {**last, "content": _MARK}], True)
        except RequestError:
            return ""
        _, found, tail = marked.rpartition(_MARK)
        return tail if found and full.endswith(tail) else ""

    def _rendered(self, messages: Sequence[JsonObject], generation_prompt: bool) -> str:
        render = self._template.render
        try:
            return render(messages, self._tools, generation_prompt, **self._variables)
        except TemplateFailed as failure:
            if not self._offered:
                raise
            # Perhaps a schema that the template cannot read; the plain form is kept for the other renderings.
            described, self._tools = self._tools, all_plain(self._offered)
            try:
                return render(messages, self._tools, generation_prompt, **self._variables)
            except RequestError:
                self._tools = described
                raise failure from None


def _common(one: str, other: str) -> int:
    """Length of the common beginning, not cutting a marker in two (`<|end|>` and `<|assistant|>` share two letters)."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    if low == len(other):
        return low
    for opening, closing in ("<>", "[]"):
        begun = one.rfind(opening, 0, low)
        if begun > one.rfind(closing, 0, low):
            low = begun
    return low
