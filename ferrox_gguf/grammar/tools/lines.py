"""A Lark grammar being written: rules and terminals under names of their own, each text once."""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.grammar.tools.rules import LAYOUT, CallRules, literal

GAP = "\u2423"
"""In markup: white space that models write or leave out."""


class Lines:
    """rule() and terminal() give the name under which a body stands; terminals of one body share it."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._names: dict[str, str] = {}
        self._count = 0

    def rule(self, body: str, hint: str = "r") -> str:
        name = self.name(hint)
        self.define(name, body)
        return name

    def name(self, hint: str = "r") -> str:
        """A rule's name ahead of its body: for rules that refer to themselves."""
        self._count += 1
        return f"{hint}_{self._count}"

    def define(self, name: str, body: str) -> None:
        self._lines.append(f"{name}: {body}")

    def terminal(self, body: str) -> str:
        if body not in self._names:
            self._names[body] = f"T_{len(self._names)}"
            self._lines.append(f"{self._names[body]}: {body}")
        return self._names[body]

    def shared(self, body: str, options: str, hint: str) -> str:
        """A rule over one terminal, with llguidance's options, written once."""
        key = f"{options}:{body}"
        if key not in self._names:
            self._names[key] = self.name(hint)
            self._lines.append(f"{self._names[key]}[{options}]: {body}")
        return self._names[key]

    def once(self, body: str, hint: str) -> str:
        """A rule that is written once, however often it is asked for."""
        if body not in self._names:
            self._names[body] = self.rule(body, hint)
        return self._names[body]

    def text(self) -> str:
        return "\n".join(self._lines)


def parts(rules: CallRules, markup: str) -> list[str | int]:
    """Markup as texts and ids of special tokens; no two texts in a row."""
    out: list[str | int] = []
    for part in rules.pieces(markup):
        if isinstance(part, str) and out and isinstance(out[-1], str):
            out[-1] += part
        else:
            out.append(part)
    return out


def spelled(rules: CallRules, markup: str) -> str:
    """Markup as Lark: special tokens by id, the rest as text, and optional white space at a GAP."""
    return f" {LAYOUT} ".join(joined(parts(rules, part)) for part in markup.split(GAP))


def joined(written: Sequence[str | int]) -> str:
    return " ".join(literal(part) if isinstance(part, str) else f"<[{part}]>" for part in written)
