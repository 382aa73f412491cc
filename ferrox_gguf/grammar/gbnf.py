"""llama.cpp's grammar notation (GBNF) as llguidance's Lark dialect, in time linear in its length.

Rules that are regular become terminals, so that llguidance reads them with its lexer; recursive ones stay rules. Two
terminals beside each other are read greedily: in `[a-z]* "x" list`, with a recursive `list`, no x is left for "x". A
grammar that is regular as a whole is one terminal, and exact.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, Union

MAX_DEPTH = 100
"""Brackets inside brackets."""

MAX_LEVELS = 20_000
"""Of brackets and rules, all told: llguidance follows them on its stack."""

MAX_NESTED_TERMINALS = 48
"""Terminals made of terminals; deeper ones are rules, since llguidance expands terminals on its stack."""

_LEXEMES = re.compile(
    r"""(?P<space>[ \t\r]+|\#[^\n]*)|(?P<line>\n)|(?P<define>::=)|(?P<text>"(?:\\.|[^"\\])*")
    |(?P<set>\[(?:\\.|[^\]\\])*\])|(?P<token>!?<[^<>\s]+>)|(?P<name>[\w-]+)|(?P<count>\{\s*\d+\s*(?:,\s*\d*\s*)?\})
    |(?P<mark>[|()*+?.])""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|(.)", re.DOTALL)
_SHORT = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"', "[": "[", "]": "]", "-": "-", "^": "^"}
_MARKER = re.compile(r"(<[^<>\s]{1,80}>|\[[A-Z_/]{1,40}\])")


class GbnfError(ValueError):
    """The grammar is none, and why."""


@dataclass(frozen=True, slots=True)
class Text:
    value: str


@dataclass(frozen=True, slots=True)
class CharacterSet:
    """pattern: a regular expression of one character."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Reference:
    name: str


@dataclass(frozen=True, slots=True)
class Token:
    """written: as Lark names tokens by id."""

    written: str


@dataclass(frozen=True, slots=True)
class Series:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """most: None without a limit."""

    part: Node
    least: int
    most: int | None


Node: TypeAlias = Union[Text, CharacterSet, Reference, Token, "Series", "Choice", "Repeat"]


def gbnf_to_lark(source: str, special: Callable[[str], int | None]) -> str:
    """The grammar with `root` as its start. Raises GbnfError.

    special: the id of a text that is one special token. Such a text in a literal may be written by that token too.
    """
    rules = _Parser(source, special).rules()
    if "root" not in rules:
        raise GbnfError("there is no rule named root")
    terminals = _terminals(rules)
    names = {name: f"{'T' if name in terminals else 'r'}{i}" for i, name in enumerate(rules)}
    lines = [f"start: {names['root']}"]
    lines += [f"{names[name]}: {_written(node, names)}" for name, node in rules.items()]
    return "\n".join(lines)


class _Parser:
    """Recursive descent over the lexemes; only brackets recurse."""

    def __init__(self, source: str, special: Callable[[str], int | None]) -> None:
        self._source, self._special = source, special
        self._lexemes = deque(self._split(source))
        self._depth = self._levels = 0

    def rules(self) -> dict[str, Node]:
        found: dict[str, Node] = {}
        self._skip_lines()
        while self._lexemes:
            name = self._take("name", "the name of a rule")
            self._enter()
            self._take("define", "::=")
            found[name] = self._choice()
            self._skip_lines()
        for name, node in found.items():
            for other in _references(node):
                if other not in found:
                    raise GbnfError(f"the rule {name!r} uses {other!r}, which is not defined")
        return found

    def _enter(self) -> None:
        self._levels += 1
        if self._levels > MAX_LEVELS:
            raise GbnfError(f"more than {MAX_LEVELS} rules and brackets")

    def _split(self, source: str) -> Iterator[tuple[str, str, int]]:
        at = 0
        while at < len(source):
            match = _LEXEMES.match(source, at)
            if match is None:
                raise GbnfError(f"{self._place(at)}: cannot be read from here: {source[at : at + 20]!r}")
            if match.lastgroup and match.lastgroup != "space":
                yield match.lastgroup, match[0], at
            at = match.end()

    def _place(self, at: int) -> str:
        return f"line {self._source.count(chr(10), 0, at) + 1}"

    def _skip_lines(self) -> None:
        while self._lexemes and self._lexemes[0][0] == "line":
            self._lexemes.popleft()

    def _take(self, kind: str, what: str) -> str:
        if not self._lexemes:
            raise GbnfError(f"the grammar ends where {what} should be")
        found, text, at = self._lexemes.popleft()
        if found != kind:
            raise GbnfError(f"{self._place(at)}: {text!r} stands where {what} should be")
        return text

    def _choice(self) -> Node:
        branches: list[Node] = []
        while True:
            self._skip_lines()
            branches.append(self._sequence())
            if self._next_is("|"):
                self._lexemes.popleft()
                continue
            return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _next_is(self, mark: str) -> bool:
        """Looks behind line breaks: a branch may begin on a line of its own."""
        ahead = next((lexeme for lexeme in self._lexemes if lexeme[0] != "line"), None)
        if ahead is None or ahead[1] != mark or ahead[0] != "mark":
            return False
        self._skip_lines()
        return True

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._lexemes:
            if self._depth:
                self._skip_lines()
            if not self._lexemes:
                break
            kind, text, at = self._lexemes[0]
            if kind in ("line", "define") or (kind == "mark" and text in "|)"):
                break
            if kind == "name" and not self._depth and len(self._lexemes) > 1 and self._lexemes[1][0] == "define":
                break
            self._lexemes.popleft()
            if kind == "count" or (kind == "mark" and text in "*+?"):
                if not parts:
                    raise GbnfError(f"{self._place(at)}: {text!r} has nothing before it to repeat")
                parts.append(_repeated(parts.pop(), text))
            else:
                parts.append(self._element(kind, text, at))
        return parts[0] if len(parts) == 1 else Series(tuple(parts))

    def _element(self, kind: str, text: str, at: int) -> Node:
        if kind == "text":
            return self._literal(self._unescaped(text[1:-1], at))
        if kind == "set":
            return CharacterSet(self._set(text[1:-1], at))
        if kind == "name":
            return Reference(text)
        if kind == "token":
            return self._token(text, at)
        if text == ".":
            return CharacterSet("(?s:.)")
        if text == "(":
            self._depth += 1
            self._enter()
            if self._depth > MAX_DEPTH:
                raise GbnfError(f"{self._place(at)}: brackets are more than {MAX_DEPTH} deep")
            inner = self._choice()
            self._skip_lines()
            closing = self._take("mark", "a closing bracket")
            if closing != ")":
                raise GbnfError(f"{self._place(at)}: this bracket is not closed")
            self._depth -= 1
            return inner
        raise GbnfError(f"{self._place(at)}: {text!r} cannot stand here")

    def _literal(self, text: str) -> Node:
        """Text, in which a special token's own text may also be that token."""
        parts: list[Node] = []
        for part in filter(None, _MARKER.split(text)):
            token = self._special(part) if _MARKER.fullmatch(part) else None
            parts.append(Text(part) if token is None else Choice((Text(part), Token(f"<[{token}]>"))))
        return parts[0] if len(parts) == 1 else Series(tuple(parts))

    def _token(self, text: str, at: int) -> Token:
        """`<[id]>` or `<text>`; with ! before it, any token but this."""
        name = text.lstrip("!")
        number = re.fullmatch(r"<\[(\d+)\]>", name)
        token = int(number[1]) if number else self._special(name)
        if token is None:
            raise GbnfError(f"{self._place(at)}: the vocabulary has no token {name!r}")
        return Token(f"<[^{token}]>" if text.startswith("!") else f"<[{token}]>")

    def _unescaped(self, text: str, at: int) -> str:
        return "".join(character for character, _ in self._characters(text, at))

    def _characters(self, text: str, at: int) -> Iterator[tuple[str, bool]]:
        """Each character, and whether it was written with a backslash."""
        for escape, plain in _ESCAPE.findall(text):
            if plain:
                yield plain, False
            elif len(escape) > 1:
                code = int(escape[1:], 16)
                if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                    raise GbnfError(f"{self._place(at)}: \\{escape} is no character")
                yield chr(code), True
            elif escape in _SHORT:
                yield _SHORT[escape], True
            else:
                raise GbnfError(f"{self._place(at)}: there is no escape \\{escape}")

    def _set(self, text: str, at: int) -> str:
        negated = text.startswith("^")
        characters = list(self._characters(text[negated:], at))
        if not characters:
            raise GbnfError(f"{self._place(at)}: a set of no characters")
        out: list[str] = []
        i = 0
        while i < len(characters):
            first = characters[i][0]
            if i + 2 < len(characters) and characters[i + 1] == ("-", False):
                last = characters[i + 2][0]
                if last < first:
                    raise GbnfError(f"{self._place(at)}: the range {first}-{last} is empty")
                out.append(f"{_code(first)}-{_code(last)}")
                i += 3
            else:
                out.append(_code(first))
                i += 1
        return f"[{'^' * negated}{''.join(out)}]"


def _code(character: str) -> str:
    return character if character.isascii() and character.isalnum() else f"\\x{{{ord(character):X}}}"


def _repeated(part: Node, mark: str) -> Node:
    if mark in "*+?":
        return Repeat(part, int(mark == "+"), 1 if mark == "?" else None)
    low, comma, high = mark.strip("{}").partition(",")
    least = int(low)
    most = int(high) if high.strip() else None if comma else least
    if most is not None and most < least:
        raise GbnfError(f"the repetition {mark} asks for more than it allows")
    return Repeat(part, least, most)


def _children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Series):
        return node.parts
    if isinstance(node, Choice):
        return node.branches
    return (node.part,) if isinstance(node, Repeat) else ()


def _nodes(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += _children(one)


def _references(node: Node) -> set[str]:
    return {one.name for one in _nodes(node) if isinstance(one, Reference)}


def _terminals(rules: Mapping[str, Node]) -> set[str]:
    """Rules that refer to terminals only, in no circle, and hold no token."""
    waits = {name: _references(node) for name, node in rules.items()}
    users: dict[str, list[str]] = {name: [] for name in rules}
    for name, others in waits.items():
        for other in others:
            users[other].append(name)
    depth = dict.fromkeys(rules, 1)
    left = {name: len(others) for name, others in waits.items()}
    ready = deque(name for name, count in left.items() if not count)
    found: set[str] = set()
    while ready:
        name = ready.popleft()
        if depth[name] > MAX_NESTED_TERMINALS or any(isinstance(one, Token) for one in _nodes(rules[name])):
            continue
        found.add(name)
        for user in users[name]:
            depth[user] = max(depth[user], depth[name] + 1)
            left[user] -= 1
            if not left[user]:
                ready.append(user)
    return found


def _written(node: Node, names: Mapping[str, str]) -> str:
    if isinstance(node, Text):
        return json.dumps(node.value, ensure_ascii=False)
    if isinstance(node, CharacterSet):
        return f"/{node.pattern}/"
    if isinstance(node, Reference):
        return names[node.name]
    if isinstance(node, Token):
        return node.written
    if isinstance(node, Series):
        return " ".join(_grouped(part, names) for part in node.parts) or '""'
    if isinstance(node, Choice):
        return " | ".join(_grouped(branch, names) for branch in node.branches)
    return _counted(node, names)


def _counted(node: Repeat, names: Mapping[str, str]) -> str:
    inner, least, most = _grouped(node.part, names), node.least, node.most
    if isinstance(node.part, Repeat):
        inner = f"({inner})"
    if most == 0:
        return '""'
    if most is None:
        return f"{inner}{ {0: '*', 1: '+'}.get(least, f'{{{least},}}') }"
    return f"{inner}?" if (least, most) == (0, 1) else f"{inner}{{{least},{most}}}"


def _grouped(node: Node, names: Mapping[str, str]) -> str:
    text = _written(node, names)
    several: Sequence[Node] = _children(node)
    return f"({text})" if isinstance(node, (Series, Choice)) and several else text
