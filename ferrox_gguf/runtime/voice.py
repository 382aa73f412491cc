"""How one template makes this model speak: the renderer, the posture that it implies, and the marker tokens.

A file can bring two templates, one for conversations with tools; each is a voice of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ferrox_gguf.gguf import FileFacts
from ferrox_gguf.output.alphabet import marker_texts
from ferrox_gguf.posture.resolve import resolve
from ferrox_gguf.posture.values import Posture
from ferrox_gguf.runtime.vocabulary import Vocabulary
from ferrox_gguf.settings import ChatSettings
from ferrox_gguf.template.render import Renderer
from ferrox_gguf.template.source import TemplateChoice, choose_template


@dataclass(frozen=True, slots=True)
class Voice:
    """marker_tokens: marker text → id, of the reasoning markers that are special tokens of this vocabulary."""

    renderer: Renderer
    posture: Posture
    marker_tokens: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Voices:
    """choice: which templates, and why.  plain: without tools.  tools: with them, often the same voice."""

    choice: TemplateChoice
    plain: Voice
    tools: Voice

    def speaking(self, *, tools: bool) -> Voice:
        return self.tools if tools else self.plain


def make_voices(facts: FileFacts, vocabulary: Vocabulary, settings: ChatSettings) -> Voices:
    """Choose the templates and resolve what each implies. Raises StartupError for a wrong template or name."""
    choice = choose_template(
        settings.template,
        facts.chat_template,
        facts.named_templates,
        given_origin=settings.template_origin or "--chat-template",
    )
    plain = make_voice(choice.source, choice, facts, vocabulary, settings)
    if choice.tool_use is None:
        return Voices(choice, plain, plain)
    return Voices(choice, plain, make_voice(choice.tool_use, choice, facts, vocabulary, settings))


def make_voice(
    source: str, choice: TemplateChoice, facts: FileFacts, vocabulary: Vocabulary, settings: ChatSettings
) -> Voice:
    posture = resolve(
        facts,
        # A fallback that nobody chose says nothing about the model.
        source if choice.explicit else None,
        reasoning_parser=settings.reasoning.parser,
        tool_call_parser=settings.tool_call_parser,
    )
    renderer = Renderer(
        source,
        posture,
        bos_token=token_text(vocabulary, vocabulary.bos),
        eos_token=token_text(vocabulary, vocabulary.eos),
        add_bos=vocabulary.adds_bos,
        add_eos=vocabulary.adds_eos,
    )
    markers = {text: vocabulary.token_of(text) for text in marker_texts(posture.reasoning)}
    return Voice(renderer, posture, {text: token for text, token in markers.items() if token is not None})


def token_text(vocabulary: Vocabulary, token: int | None) -> str:
    return "" if token is None else vocabulary.piece(token).decode(errors="replace")
