"""Output constraints of one model: what a request asks for becomes something that makes a Guide for each sequence.

llguidance's view of the vocabulary takes a moment to build (`llama/guidance.py`), so it is built on a thread after
loading; the first constrained request waits for what is left of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

from ferrox_gguf.engine.contract import Guide
from ferrox_gguf.errors import InvalidField
from ferrox_gguf.grammar.choice import tool_choice_source
from ferrox_gguf.grammar.compiler import GrammarCompiler
from ferrox_gguf.grammar.either import Either
from ferrox_gguf.grammar.guide import Gate, GrammarGuide
from ferrox_gguf.grammar.lazy import TriggerGate
from ferrox_gguf.grammar.source import Source, source_of
from ferrox_gguf.json_types import JsonObject
from ferrox_gguf.posture.values import BlockState, ReasoningStyle
from ferrox_gguf.request import GrammarKind, GrammarSpec, Tool, ToolChoice, ToolChoiceMode
from ferrox_gguf.runtime.chat import Conversation
from ferrox_gguf.runtime.thought_gate import ThoughtGate
from ferrox_gguf.runtime.vocabulary import Vocabulary

GuideMaker = Callable[[], Guide]
HARMONY_CALL = "<|call|>"
FORCED_CHOICES = (ToolChoiceMode.REQUIRED, ToolChoiceMode.NAMED)


@dataclass(frozen=True, slots=True)
class Constraints:
    """compiler: ready at some time after loading. Everything here blocks: worker threads only."""

    vocabulary: Vocabulary
    compiler: Future[GrammarCompiler]

    def of_text(self, spec: GrammarSpec | None) -> GuideMaker | None:
        """For a raw prompt, where no thought is told from an answer."""
        if spec is None:
            return None
        return self._maker([source_of(spec, self._special)], self._trigger_gate(spec), self._ends(spec))

    def of_chat(self, conversation: Conversation) -> GuideMaker | None:
        """A forced tool choice, or the request's own constraint. Raises InvalidField or NotSupported."""
        request = conversation.request
        if request.tools and request.tool_choice.mode in FORCED_CHOICES:
            source = self._tool_choice(conversation, request.tool_choice)
            return self._maker([source], self._call_gate(conversation), self._ends())
        spec = request.generation.grammar
        if spec is None:
            return None
        gate = self._trigger_gate(spec)
        if gate is None and spec.after_reasoning:
            gate = self._thought_gate(conversation)
        sources, ends = [source_of(spec, self._special)], self._ends(spec)
        if conversation.tools and spec.kind is GrammarKind.JSON_SCHEMA:
            # The answer has a form; a call instead of an answer is still free to come.
            if _is_harmony(conversation):
                ends = frozenset(end for end in ends if end != self.vocabulary.token_of(HARMONY_CALL))
            else:
                sources.append(self._free_calls(conversation))
        return self._maker(sources, gate, ends)

    def _ends(self, spec: GrammarSpec | None = None) -> frozenset[int]:
        """What may not end generation before the constraint has begun. A lazy one need never begin."""
        return frozenset() if spec is not None and spec.lazy else self.vocabulary.end_tokens

    def _maker(self, sources: Sequence[Source], gate: Callable[[], Gate] | None, ends: frozenset[int]) -> GuideMaker:
        """sources: the output keeps to one of them."""
        compiler = self.compiler.result()
        # Compiled here, where it may block and be refused; each sequence then gets a copy.
        each = [compiler.compile(source) for source in sources]
        compiled = each[0] if len(each) == 1 else Either(each)

        def spoiled() -> None:
            for source in sources:
                compiler.forget(source)

        def make() -> GrammarGuide:
            opened_by = gate() if gate else None
            return GrammarGuide(compiled.deep_copy(), compiler.tokenizer, opened_by, ends=ends, spoiled=spoiled)

        return make

    def _free_calls(self, conversation: Conversation) -> Source:
        """Calls that nobody forced: held to the tools' schemas, or to any object where a schema cannot be enforced."""
        required = ToolChoice(ToolChoiceMode.REQUIRED)
        try:
            source = self._tool_choice(conversation, required)
            self.compiler.result().compile(source)
        except InvalidField:
            anything: JsonObject = {"type": "object", "additionalProperties": True}
            tools = tuple(replace(tool, parameters=anything) for tool in conversation.tools)
            source = self._tool_choice(conversation, required, tools)
        return source

    def _tool_choice(
        self, conversation: Conversation, choice: ToolChoice, tools: Sequence[Tool] | None = None
    ) -> Source:
        posture, request = conversation.voice.posture, conversation.request
        return tool_choice_source(
            None if conversation.prompt.taught_tools else posture.tool_format,
            posture.call_markers,
            request.tools if tools is None else tools,
            choice,
            parallel=conversation.prompt.parallel_calls,
            special=self._special,
            end_tokens=self.vocabulary.end_tokens,
        )

    def _special(self, text: str) -> int | None:
        """The token that a grammar must name by its id (as `llama/guidance.py` says)."""
        token = self.vocabulary.token_of(text)
        named = token is not None and (
            self.vocabulary.is_control(token) or (text.startswith("<") and text.endswith(">"))
        )
        return token if named else None

    def _call_gate(self, conversation: Conversation) -> Callable[[], Gate] | None:
        """Harmony's calls are messages like its thoughts: their constraint has the thoughts before them in it."""
        return None if _is_harmony(conversation) else self._thought_gate(conversation)

    def _trigger_gate(self, spec: GrammarSpec) -> Callable[[], Gate] | None:
        if not spec.lazy:
            return None
        triggers, piece = spec.triggers, self.vocabulary.piece
        TriggerGate(triggers, piece)  # refuses a pattern that cannot be used, while it still can be a 400
        return lambda: TriggerGate(triggers, piece)

    def _thought_gate(self, conversation: Conversation) -> Callable[[], Gate] | None:
        voice, state = conversation.voice, conversation.prompt.block
        reasoning = voice.posture.reasoning
        if reasoning is None or reasoning.style is ReasoningStyle.ATEM or state is BlockState.CLOSED:
            return None
        return lambda: ThoughtGate(reasoning, state, voice.marker_tokens, self.vocabulary.piece, self._plain_tokens)

    def _plain_tokens(self, text: str) -> list[int]:
        return self.vocabulary.tokenize(text, add_special=False, parse_special=False)


def _is_harmony(conversation: Conversation) -> bool:
    reasoning = conversation.voice.posture.reasoning
    return reasoning is not None and reasoning.style is ReasoningStyle.HARMONY
