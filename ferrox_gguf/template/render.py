"""ChatRequest → the text of the prompt, and what the rest of the server must know about how it ends.

One Renderer serves one template; it asks the template once what it takes (`examination.py`) and keeps nothing of a
request. Which template serves a request is decided before (`source.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.jinja import Clock, CompiledTemplate, compile_template
from ferrox_gguf.json_types import Json
from ferrox_gguf.posture.open_block import block_state, opener_at
from ferrox_gguf.posture.values import BlockState, Posture, ReasoningStyle
from ferrox_gguf.request import ChatRequest, Message, ToolChoiceMode
from ferrox_gguf.settings import ChatSettings
from ferrox_gguf.template.capabilities import Capabilities
from ferrox_gguf.template.continuation import Continued, resolve, resumed
from ferrox_gguf.template.conversation import Conversation
from ferrox_gguf.template.examination import examine
from ferrox_gguf.template.shapes import Shaper
from ferrox_gguf.template.text import text_of
from ferrox_gguf.template.thinking import ThinkingChoice, ThinkingSwitches, decide, no_think
from ferrox_gguf.template.tools_preamble import preamble, taught


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """A prompt, ready to be tokenised with special tokens parsed.

    added: the end of `text` that was added for the coming turn (generation prompt, and the text that is continued).
    block: how it leaves the reasoning block.  opened: the part of `added` that opened it for a new thought, else "".
    thinking: was thinking left on.
    continued: the message that goes on, None for a new one.
    parallel_calls: may several calls be made in this turn.  taught_tools: the Hermes form is in the system text, since
    the template cannot show tools.
    """

    text: str
    added: str
    block: BlockState
    thinking: bool
    continued: Continued | None = None
    parallel_calls: bool = True
    taught_tools: bool = False
    opened: str = ""


class Renderer:
    """Renders conversations with one template for one model.

    add_bos, add_eos: the tokenizer writes these itself, so they are taken off the text (as llama-server does).
    """

    def __init__(
        self,
        source: str,
        posture: Posture,
        *,
        bos_token: str = "",
        eos_token: str = "",
        add_bos: bool = False,
        add_eos: bool = False,
        clock: Clock = datetime.now,
    ) -> None:
        self._template: CompiledTemplate = compile_template(source, clock=clock)
        self._posture = posture
        self._tokens: dict[str, Json] = {"bos_token": bos_token, "eos_token": eos_token}
        self._bos = bos_token if add_bos else ""
        self._eos = eos_token if add_eos else ""

    @property
    def source(self) -> str:
        return self._template.source

    @cached_property
    def capabilities(self) -> Capabilities:
        """What the template takes; asked at the first use, in some 10 ms."""
        return examine(self._template, self._tokens)

    @cached_property
    def switches(self) -> ThinkingSwitches:
        """How the template turns thinking on and off."""
        return ThinkingSwitches(self._template, self._tokens, enable_thinking=self.capabilities.enable_thinking)

    @cached_property
    def _shaper(self) -> Shaper:
        return Shaper(self.capabilities, source=self.source, tool_format=self._posture.tool_format)

    def render(self, request: ChatRequest, settings: ChatSettings) -> RenderedPrompt:
        """The prompt of a request.

        Raises InvalidField or NotSupported for a continuation that cannot be (before anything is rendered),
        TemplateRefused with the template's words, TemplateFailed when it breaks on this conversation.
        """
        continued = resolve(request, self._posture, prefill=settings.prefill_assistant)
        choice = decide(request, settings)
        teaches = bool(request.tools) and not self.capabilities.tools
        history = request.messages[:-1] if continued is not None else request.messages
        conversation = self._conversation(request, history, choice, settings, teaches=teaches)
        parallel = self._parallel(request, teaches)
        if continued is None and request.add_generation_prompt is False:
            text, _ = self._bare(conversation.text(generation_prompt=False), "")
            return RenderedPrompt(text, "", BlockState.UNOPENED, choice.on, None, parallel, teaches)
        full = conversation.text(generation_prompt=True)
        added = conversation.added(full)
        before, added = self._bare(full[: len(full) - len(added)], added)
        added = self._thinking_closed(added, choice)
        block = block_state(added, self._posture.reasoning)
        if continued is not None:
            added, block = resumed(added, continued, self._posture)
            return RenderedPrompt(before + added, added, block, choice.on, continued, parallel, teaches)
        opened = self._opened(added, block)
        return RenderedPrompt(before + added, added, block, choice.on, None, parallel, teaches, opened)

    def _conversation(
        self,
        request: ChatRequest,
        turns: Sequence[Message],
        choice: ThinkingChoice,
        settings: ChatSettings,
        *,
        teaches: bool,
    ) -> Conversation:
        if teaches and request.tool_choice.mode is not ToolChoiceMode.NONE:
            turns = taught(turns, preamble(request.tools, request.tool_choice, self._parallel(request, teaches)))
        if self.switches.in_words and not choice.on:
            turns = _with_no_think(turns)
        variables: dict[str, Json] = {
            **self._tokens,
            **_free(settings.template_kwargs),
            **self.switches.variables(choice),
            **_free(request.template_kwargs),
        }
        if not self.capabilities.enable_thinking:
            variables.pop("enable_thinking", None)
        messages = self._shaper.messages(turns, calls_in_text=teaches)
        return Conversation(self._template, messages, () if teaches else request.tools, variables)

    def _parallel(self, request: ChatRequest, teaches: bool) -> bool:
        if request.parallel_tool_calls is not None:
            return request.parallel_tool_calls
        return teaches or self.capabilities.parallel_calls

    def _thinking_closed(self, added: str, choice: ThinkingChoice) -> str:
        """For a template without a switch, an explicit "off" is written into the prompt: an empty block, closed.

        Only for the `<think>` pair, which such models have all seen empty in training, and for a delimiter.
        """
        reasoning = self._posture.reasoning
        if choice.on or reasoning is None or self.switches.has_off:
            return added
        if reasoning.style is ReasoningStyle.DELIMITER:
            return f"{added}{reasoning.closer}\n"
        if reasoning.opener != "<think>":
            return added
        state = block_state(added, reasoning)
        if state is BlockState.UNOPENED:
            return f"{added}<think>\n\n</think>\n\n"
        if state is BlockState.CLOSED:
            return added
        tight = added[opener_at(added, reasoning) :] == reasoning.opener
        return f"{added}</think>" if tight else f"{added}\n</think>\n\n"

    def _opened(self, added: str, block: BlockState) -> str:
        reasoning = self._posture.reasoning
        if reasoning is None or reasoning.style is not ReasoningStyle.PAIR or block is not BlockState.OPEN:
            return ""
        return added[opener_at(added, reasoning) :]

    def _bare(self, history: str, added: str) -> tuple[str, str]:
        """Without the tokens that the tokenizer writes itself."""
        history = history.removeprefix(self._bos)
        if added:
            return history, added.removesuffix(self._eos)
        return history.removesuffix(self._eos), added


_OURS = ("messages", "tools", "add_generation_prompt")


def _free(kwargs: Mapping[str, Json]) -> Mapping[str, Json]:
    """Keywords for the template; those that are the request's own fields have their place there."""
    for name in _OURS:
        if name in kwargs:
            raise InvalidField(f"chat_template_kwargs.{name}", f"send `{name}` as a field of the request")
    return kwargs


def _with_no_think(turns: Sequence[Message]) -> list[Message]:
    first = turns[0] if turns else None
    if first is not None and first.role in ("system", "developer"):
        return [replace(first, content=no_think(text_of(first.content))), *turns[1:]]
    return [Message("system", no_think("")), *turns]
