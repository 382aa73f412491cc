"""The constraint of gpt-oss's harmony: a message to `functions.NAME` whose body is JSON, after any thoughts.

The prompt ends with `<|start|>assistant`. One call a message, for `<|call|>` ends the turn.
"""

from __future__ import annotations

import re

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.grammar.tools.lines import Lines, spelled
from ferrox_gguf.grammar.tools.rules import CallRules
from ferrox_gguf.grammar.tools.texts import FREE_TEXT, Ending, ended

CHANNEL, MESSAGE, CONSTRAIN = "<|channel|>", "<|message|>", "<|constrain|>"
THOUGHT = f"{CHANNEL}analysis{MESSAGE}"
NEXT = "<|start|>assistant"
_NAME = re.compile(r"[^\s<]{1,100}")


class GptOss:
    def lark(self, rules: CallRules) -> str:
        lines = Lines()
        ending = Ending("<|end|>", words=("<|start|>", CHANNEL, MESSAGE, "<|call|>", "<|return|>"))
        thought = f"{spelled(rules, THOUGHT)} {ended(lines, rules, FREE_TEXT, ending)} {spelled(rules, NEXT)}"
        calls = lines.rule("\n | ".join(self._call(rules, lines, index) for index in rules.allowed), "call")
        end = "" if rules.ends("<|call|>") else f" ({spelled(rules, '<|call|>')})?"
        lines.define("start", f"({lines.rule(thought, 'thought')})* {calls}{end}")
        return lines.text()

    def _call(self, rules: CallRules, lines: Lines, index: int) -> str:
        name = rules.tools[index].name
        if _NAME.fullmatch(name) is None:
            raise InvalidField(
                f"tools.{index}.function.name", "this name cannot be written in the model's tool-call form"
            )
        recipient = f" to=functions.{name}"
        headers = [
            f"{recipient}{CHANNEL}commentary json{MESSAGE}",
            f"{recipient}{CHANNEL}commentary {CONSTRAIN}json{MESSAGE}",
            f"{recipient}{CHANNEL}commentary{MESSAGE}",
            f"{CHANNEL}commentary{recipient} {CONSTRAIN}json{MESSAGE}",
            f"{CHANNEL}commentary{recipient} json{MESSAGE}",
            f"{CHANNEL}commentary{recipient}{MESSAGE}",
        ]
        header = lines.rule("\n | ".join(spelled(rules, header) for header in headers), "header")
        return f"{header} {lines.rule(rules.arguments(index), 'arguments')}"
