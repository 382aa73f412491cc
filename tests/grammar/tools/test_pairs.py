"""Every syntax that is read has its constraint, and the reverse."""

from __future__ import annotations

from ferrox_gguf.grammar.tools import GRAMMARS
from ferrox_gguf.output.tool_calls import SYNTAXES

CHANNELS = {"gpt_oss", "muse_glimmer"}
"""Read by `output/channels/`: their calls are messages of their own."""


def test_every_syntax_has_a_constraint_and_every_constraint_a_reader() -> None:
    assert set(GRAMMARS) == set(SYNTAXES) | CHANNELS | {"custom"}


def test_a_constraint_is_made_anew_for_each_request() -> None:
    assert all(make() is not make() for make in GRAMMARS.values())
