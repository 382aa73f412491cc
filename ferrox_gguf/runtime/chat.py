"""A conversation becomes a job: rendered, tokenised, and with everything that reading its answers needs.

Runs on a worker thread; what it makes (readers, guides) is made later, once for each sequence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ferrox_gguf.events import ContentDelta, OutputEvent, ReasoningDelta
from ferrox_gguf.output.chain import OutputChain
from ferrox_gguf.output.detokenizer import PieceTable
from ferrox_gguf.posture.values import BlockState, Posture
from ferrox_gguf.request import ChatRequest, ReasoningDisplay, Tool, ToolChoiceMode
from ferrox_gguf.runtime.budget import ThoughtBudget, closing_text
from ferrox_gguf.runtime.reader import Reader
from ferrox_gguf.runtime.vocabulary import Vocabulary
from ferrox_gguf.runtime.voice import Voice, Voices
from ferrox_gguf.settings import ChatSettings
from ferrox_gguf.template.render import RenderedPrompt


@dataclass(frozen=True, slots=True)
class Conversation:
    """One chat request, rendered.

    tools: what a call in the answer may name; () when none is offered or none is wanted.
    display: where the thought is shown, decided between request and flag.
    """

    request: ChatRequest
    voice: Voice
    prompt: RenderedPrompt
    tools: tuple[Tool, ...]
    display: ReasoningDisplay
    show_special: bool = False

    def reader(self, table: PieceTable) -> Reader:
        """What reads one answer, starting in the state in which the prompt left the model."""
        chain = OutputChain(
            self.voice.posture,
            self.prompt.block,
            tools=self.tools,
            stops=self.request.generation.stop,
            marker_tokens=self.voice.marker_tokens,
            display=self.display,
            opened=self.prompt.opened,
            continued=self.prompt.continued is not None and self.prompt.continued.reasoning_only,
            special=self.show_special,
        )
        return Reader(table, chain)

    def continued(self) -> tuple[OutputEvent, ...]:
        """The message that the answers go on with, as if it had just been said; () for a new turn."""
        before = self.prompt.continued
        if before is None:
            return ()
        thought = (ReasoningDelta(before.thought),) if before.thought else ()
        return (*thought, ContentDelta(before.text)) if before.text else thought

    def budget(self, vocabulary: Vocabulary, table: PieceTable) -> Callable[[], ThoughtBudget] | None:
        """What makes the bound of one answer's thought; None where there is none. table: for the engine's thread."""
        thinking, posture = self.request.thinking, self.voice.posture
        limit = thinking.budget if thinking.budget is not None and thinking.budget >= 0 else None
        closing = closing_text(posture, thinking.budget_message or "")
        # Behind a block that stands closed in the prompt a model may still open another, and that is bounded, too.
        if closing is None or (limit is None and not thinking.controllable):
            return None
        tokens = vocabulary.tokenize(closing, add_special=False, parse_special=True)

        def make() -> ThoughtBudget:
            chain = OutputChain(posture, self.prompt.block, marker_tokens=self.voice.marker_tokens)
            return ThoughtBudget(chain, table, limit=limit, closing=tokens)

        return make


def render(request: ChatRequest, voices: Voices, settings: ChatSettings, *, show_special: bool) -> Conversation:
    """Raises what the renderer raises: the template's own words, or why a continuation cannot be."""
    request = normalised(request, settings)
    wanted = request.tools if request.tool_choice.mode is not ToolChoiceMode.NONE else ()
    voice = voices.speaking(tools=bool(request.tools))
    prompt = voice.renderer.render(request, settings)
    if settings.skip_parsing:
        return Conversation(
            request, plain_voice(voice), unread(prompt), (), ReasoningDisplay.NONE, show_special=show_special
        )
    display = request.reasoning_display or settings.reasoning.display
    return Conversation(request, voice, prompt, wanted, display, show_special)


def normalised(request: ChatRequest, settings: ChatSettings) -> ChatRequest:
    """The flags where the request left the budget open."""
    thinking, flags = request.thinking, settings.reasoning
    budget = flags.budget if thinking.budget is None else thinking.budget
    message = thinking.budget_message or flags.budget_message or None
    return replace(request, thinking=replace(thinking, budget=budget, budget_message=message))


def plain_voice(voice: Voice) -> Voice:
    """`--skip-chat-parsing`: whatever the model writes is content."""
    return replace(voice, posture=Posture(), marker_tokens={})


def unread(prompt: RenderedPrompt) -> RenderedPrompt:
    return replace(prompt, block=BlockState.UNOPENED)
