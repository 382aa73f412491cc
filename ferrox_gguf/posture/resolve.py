"""Chooses how a model speaks, from the strongest evidence there is, and says why.

Order: flag > the template's own text > comparing its renderings > marker tokens > architecture > name. Each step
fills only what the steps before it left open; reasoning and tool calls are settled apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Union

from ferrox_gguf.errors import TemplateBroken
from ferrox_gguf.gguf import FileFacts
from ferrox_gguf.jinja import CompiledTemplate, compile_template
from ferrox_gguf.json_types import Json
from ferrox_gguf.posture import architecture, names, vocabulary
from ferrox_gguf.posture.aliases import reasoning_named, tool_format_named
from ferrox_gguf.posture.differ import compare_calls, compare_reasoning
from ferrox_gguf.posture.inputs import PostureInputs, inputs_of
from ferrox_gguf.posture.known import FAMILIES, Family
from ferrox_gguf.posture.protocol import protocol_of
from ferrox_gguf.posture.signatures import SIGNATURES, Signature, match
from ferrox_gguf.posture.values import CallMarkers, Posture, ReasoningFormat


def resolve(
    about: Union[FileFacts, PostureInputs],
    template_source: str | None,
    *,
    reasoning_parser: str | None = None,
    tool_call_parser: str | None = None,
    signatures: Sequence[Signature] = SIGNATURES,
) -> Posture:
    """How the model speaks.

    template_source: the template that will render (flag, file or variant); None, or a value without any Jinja in it
    (a short name), is no evidence.
    reasoning_parser, tool_call_parser: a format's name, "none", or None to find out; StartupError for an unknown name.
    signatures: the table to look in; a test holds families out.
    """
    return _Inquiry(inputs_of(about), template_source, signatures).posture(reasoning_parser, tool_call_parser)


@dataclass
class _Inquiry:
    inputs: PostureInputs
    source: str | None
    signatures: Sequence[Signature]
    template: CompiledTemplate | None = None
    family: Family | None = None
    reasoning: ReasoningFormat | None = None
    reasoning_settled: bool = False
    tool_format: str | None = None
    tools_settled: bool = False
    call_markers: CallMarkers | None = None
    evidence: list[str] = field(default_factory=list)

    def posture(self, reasoning_parser: str | None, tool_call_parser: str | None) -> Posture:
        self._compile()
        self._by_flag(reasoning_parser, tool_call_parser)
        self._by_signature()
        self._by_comparing()
        self._by_vocabulary()
        self._by_architecture()
        self._by_name()
        self._by_default()
        protocol = protocol_of(
            self.template, self.reasoning, self._variables, certain=self.reasoning_settled or self.template is not None
        )
        self.evidence.append(f"reasoning protocol {protocol.value}")
        spoken = self._spoken()
        return Posture(
            reasoning=self.reasoning,
            protocol=protocol,
            tool_format=self.tool_format,
            call_markers=self.call_markers,
            calls_interrupt=spoken.calls_interrupt if spoken else False,
            string_stops=self.family.string_stops if self.family else (),
            family=self.family.name if self.family else "unknown",
            evidence=tuple(self.evidence),
        )

    @property
    def _variables(self) -> dict[str, Json]:
        return {"bos_token": self.inputs.bos_token, "eos_token": self.inputs.eos_token}

    def _compile(self) -> None:
        if self.source is None or not ("{%" in self.source or "{{" in self.source):
            shown = (self.source or "").strip()[:60]
            self.evidence.append(f"the template is a name: {shown}" if shown else "there is no template")
            self.source = None
            return
        try:
            self.template = compile_template(self.source)
        except TemplateBroken as error:
            self.evidence.append(f"the template cannot be rendered: {error}")

    def _by_flag(self, reasoning_parser: str | None, tool_call_parser: str | None) -> None:
        if reasoning_parser is not None:
            asked = reasoning_named(reasoning_parser)
            found = match(self.source, self.signatures) if self.source else None
            own = found[1].reasoning if found else None
            # One name may stand for two spellings of a wrapper (Cohere's): the template knows which is its own.
            same = own is not None and asked is not None and own.name == asked.name
            self._settle_reasoning(own if same else asked, "asked for by flag")
        if tool_call_parser is not None:
            self._settle_tools(tool_format_named(tool_call_parser), "asked for by flag")

    def _by_signature(self) -> None:
        found = match(self.source, self.signatures) if self.source else None
        if found is None:
            return
        signature, family = found
        because = f"the template holds {signature.words}"
        self.family = family
        self._settle_tools(family.tool_format, because)
        if family.reasoning or signature.settles_reasoning:
            self._settle_reasoning(family.reasoning, because)

    def _by_comparing(self) -> None:
        if self.template is None:
            return
        if not self.reasoning_settled and (thought := compare_reasoning(self.template, self._variables)):
            self._settle_reasoning(thought.format, thought.because)
        if not self.tools_settled and (calls := compare_calls(self.template, self._variables, self.reasoning)):
            self.call_markers = calls.markers
            self._settle_tools(calls.tool_format, calls.because)

    def _by_vocabulary(self) -> None:
        # With a template that shows no calls the server teaches the Hermes form, whatever tokens there are.
        if not self.tools_settled and self.source is None and (found := vocabulary.family_of(self.inputs.markers)):
            family, tokens = found
            self._adopt(family, f"the vocabulary has {', '.join(f'`{token}`' for token in tokens)}")
        if not self.reasoning_settled and (thought := vocabulary.reasoning_of(self.inputs.markers)):
            self._settle_reasoning(thought, f"the vocabulary has `{thought.opener}` and `{thought.closer}`")

    def _by_architecture(self) -> None:
        if family := architecture.family_of(self.inputs.architecture):
            self._adopt(family, f"the architecture is {self.inputs.architecture}")

    def _by_name(self) -> None:
        if found := names.family_of(self.inputs.names):
            family, name = found
            self._adopt(family, f"the model is called {name}")

    def _adopt(self, family: Family, because: str) -> None:
        """Take a family's word for what is still open. "It has none" is not evidence from so weak a witness."""
        if not self.reasoning_settled and family.reasoning:
            self._settle_reasoning(family.reasoning, because)
            self.family = self.family or family
        if not self.tools_settled and family.tool_format:
            self._settle_tools(family.tool_format, because)
            self.family = self.family or family

    def _by_default(self) -> None:
        if not self.reasoning_settled:
            self.evidence.append("no reasoning format: nothing points to one")
        if not self.tools_settled:
            self.evidence.append("no native tool format: nothing points to one, so Hermes calls are looked for")

    def _settle_reasoning(self, format: ReasoningFormat | None, because: str) -> None:
        if self.reasoning_settled:
            return
        self.reasoning, self.reasoning_settled = format, True
        self.evidence.append(
            f"reasoning format {format.name}: {because}" if format else f"no reasoning format: {because}"
        )

    def _settle_tools(self, tool_format: str | None, because: str) -> None:
        if self.tools_settled:
            return
        self.tool_format, self.tools_settled = tool_format, True
        self.evidence.append(
            f"tool format {tool_format}: {because}" if tool_format else f"no native tool format: {because}"
        )

    def _spoken(self) -> Family | None:
        """The family that speaks in these two formats: the one found, unless a flag changed a half of it."""
        spoken = (self.reasoning, self.tool_format)
        if self.family and (self.family.reasoning, self.family.tool_format) == spoken:
            return self.family
        return next((row for row in FAMILIES.values() if (row.reasoning, row.tool_format) == spoken), None)
