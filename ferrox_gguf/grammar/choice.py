"""Tool choice as a constraint: which tools may be called, how often, in which wire form."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llguidance import LLMatcher

from ferrox_gguf.errors import NotSupported
from ferrox_gguf.grammar.source import Source
from ferrox_gguf.grammar.tools import GRAMMARS, CallRules
from ferrox_gguf.grammar.tools.rules import object_schema
from ferrox_gguf.posture.values import CallMarkers
from ferrox_gguf.request import Tool, ToolChoice, ToolChoiceMode

FALLBACK = "qwen25"
"""What a model without a native form is taught by our preamble."""


def tool_choice_source(
    tool_format: str | None,
    markers: CallMarkers | None,
    tools: Sequence[Tool],
    choice: ToolChoice,
    *,
    parallel: bool,
    special: Callable[[str], int | None],
    end_tokens: frozenset[int] = frozenset(),
) -> Source:
    """The constraint of `required` or a named function.

    special: the id of a marker that is one special token, else None.  end_tokens: ids that end generation.
    Raises NotSupported when the model's form has no constraint, InvalidField with the path of what a schema cannot say.
    """
    assert choice.mode in (ToolChoiceMode.REQUIRED, ToolChoiceMode.NAMED)
    named = choice.mode is ToolChoiceMode.NAMED
    indices = [i for i, tool in enumerate(tools) if not named or tool.name == choice.name]
    rules = CallRules(
        tools,
        tuple(indices),
        parallel=parallel and not named,
        special=special,
        markers=markers,
        end_tokens=end_tokens,
    )
    make = GRAMMARS.get(tool_format or FALLBACK)
    if make is None:
        raise NotSupported(f"tool_choice cannot be enforced for this model's tool-call format ({tool_format})")
    schemas = tuple((rules.field(index), object_schema(tools[index])) for index in indices)
    return Source(LLMatcher.grammar_from_lark(make().lark(rules)), "tool_choice", schemas)
