"""The constraint of MiniCPM5: functions that stand alone, whose strings may be CDATA sections."""

from __future__ import annotations

from dataclasses import replace

from ferrox_gguf.grammar.tools.invoked import Invoked
from ferrox_gguf.grammar.tools.lines import Lines
from ferrox_gguf.grammar.tools.rules import CallRules, literal
from ferrox_gguf.grammar.tools.texts import Ending, Text, ended

CDATA_OPEN, CDATA_CLOSE = "<![CDATA[", "]]>"


class MiniCpm5(Invoked):
    """A string with a `<` in it is in CDATA, any other may be."""

    def __init__(self) -> None:
        super().__init__(elements=("function", "param"))

    def raw(self, rules: CallRules, lines: Lines, text: Text, ending: Ending) -> str:
        plain = ended(lines, rules, text, replace(ending, words=("<",)))
        inside = ended(lines, rules, text, Ending(CDATA_CLOSE))
        return lines.rule(f"{plain}\n | {literal(CDATA_OPEN)} {inside} {literal(ending.marker)}", "v")
