"""The constraint of muse-glimmer (ATEM): messages to tools, after any number of messages to itself.

The prompt ends inside a header. Every call is a message of its own, which names its function twice.
"""

from __future__ import annotations

from ferrox_gguf.declared import STRING
from ferrox_gguf.grammar.tools.invoked import Invoked
from ferrox_gguf.grammar.tools.lines import Lines, spelled
from ferrox_gguf.grammar.tools.rules import LAYOUT, CallRules, repeated
from ferrox_gguf.grammar.tools.texts import FREE_TEXT, Ending, ended

START, MESSAGE, END = "<|start|>assistant", "<|message|>", "<|eom|>"
CONTROL = (END, MESSAGE, "<|start|>", "<|eot|>", "<|end_of_text|>")
"""What ends a message or begins another, also where a model spells it out."""

BLOCK = ("<atem:function_calls>", "</atem:function_calls>")


class MuseGlimmer(Invoked):
    def __init__(self) -> None:
        super().__init__("atem:", section=BLOCK, undeclared=STRING, words=CONTROL)

    def call(self, rules: CallRules, lines: Lines, index: int) -> str:
        opener, closer = (spelled(rules, marker) for marker in BLOCK)
        header = spelled(rules, f" to={rules.tools[index].name}{MESSAGE}")
        return f"{header} {opener} {LAYOUT} {super().call(rules, lines, index)} {LAYOUT} {closer}"

    def section(self, rules: CallRules, lines: Lines, call: str) -> str:
        return repeated(call, rules, spelled(rules, f"{END}{START}"))

    def around(self, rules: CallRules, lines: Lines, calls: str) -> str:
        ending = Ending(END, words=CONTROL[1:])
        thought = f"{spelled(rules, f' to=self{MESSAGE}')} {ended(lines, rules, FREE_TEXT, ending)}"
        return f"({lines.rule(thought, 'thought')} {spelled(rules, START)})* {calls.removeprefix(LAYOUT)}"
