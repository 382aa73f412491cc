"""Strings as markup holds them: raw, up to the marker that ends them, as one terminal of llguidance's Lark.

A value that may also be of another type is a string only if its text is not read as that type; such texts are kept out
of the string's, and in where the schema allows the other type. `declared.py` says what a parser will look for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from llguidance import LLMatcher

from ferrox_gguf.grammar.tools.lines import Lines, joined, parts
from ferrox_gguf.grammar.tools.pattern import ANYTHING, FORMATS, quoted, searched, without
from ferrox_gguf.grammar.tools.rules import CallRules, literal
from ferrox_gguf.grammar.tools.schemas import Branch, Path, Schemas

FREE = f"/{ANYTHING}/"

_SPACE = r"[ \t\r\n]*"
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_INTEGER = r"-?(?:0|[1-9][0-9]*)"
_CONTAINERS = frozenset({"object", "array"})
_NO_BREAKS = rf"/([^\n]({ANYTHING}[^\n])?)?/"
"""Neither begins nor ends with a line break."""

_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


@dataclass(frozen=True, slots=True)
class Ending:
    """What ends a value's text. marker: as written.  never: regexes of what else its text may not hold; words: the
    same as texts, which a value in JSON may not hold either.  layout: one line break on either side is not the value's.
    """

    marker: str
    never: tuple[str, ...] = ()
    layout: bool = False
    words: tuple[str, ...] = ()

    @property
    def markers(self) -> tuple[str, ...]:
        return (self.marker, *self.words)


def forgotten(ends: Sequence[str], going_on: str) -> str:
    """A regex for what a parser takes for the end of a value whose own end was forgotten: the call's end, and what
    surely is another call."""
    return f"(?:{'|'.join(map(quoted, ends))})[ \\t\\r\\n]{{0,8}}{quoted(going_on)}"


@dataclass(frozen=True, slots=True)
class Text:
    """The texts that a value may have. patterns: Lark for those that no list names, each with regexes of texts that are
    not among them.  constants: Lark for the others."""

    patterns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    constants: tuple[str, ...] = ()

    @property
    def is_free(self) -> bool:
        return self == FREE_TEXT

    def __or__(self, other: Text) -> Text:
        return Text(self.patterns + other.patterns, self.constants + other.constants)

    def __bool__(self) -> bool:
        return bool(self.patterns or self.constants)

    def lark(self, markers: Sequence[str] = (), never: Sequence[str] = ()) -> str:
        """Lark's expression. markers, never: texts and regexes that no text may hold (constants are known not to)."""
        fences = [f"/{pattern[1:-1]}/" for pattern in without(markers)]
        if never:
            fences.append(f"~/{ANYTHING}(?:{'|'.join(never)}){ANYTHING}/")
        written = list(self.constants)
        for pattern, unless in self.patterns:
            kept_out = [f"~/{'|'.join(f'(?:{regex})' for regex in unless)}/"] if unless else []
            written.append(f"({' & '.join([pattern, *kept_out, *fences])})")
        return " | ".join(written)


FREE_TEXT = Text(((FREE, ()),))


@dataclass(frozen=True, slots=True)
class Misread:
    """Texts that are no strings to a parser. whole: regexes of them.  starts: what others begin with, white space
    aside, as the inside of a character class."""

    whole: tuple[str, ...] = ()
    starts: str = ""

    @property
    def otherwise(self) -> str:
        """A regex of texts that begin with none of `starts`. Said so, because ruling out `X.*` costs the lexer more."""
        return rf"{_SPACE}(?:[^{self.starts} \t\r\n]{ANYTHING})?"


def misread(types: frozenset[str], *, bounded: bool = False) -> Misread:
    """What a parser reads as another type than string where these types are declared (none: where it guesses).
    bounded: no terminal can say which numbers are allowed, so no string may look like one at all."""
    if types == {"string"}:
        return Misread()
    guessed = not types
    words = ["true", "True", "false", "False", "null", "None"] if guessed else []
    words += ["true", "True", "false", "False"] if "boolean" in types else []
    words += ["null"] if "null" in types else []
    whole = [f"{_SPACE}(?:{'|'.join(words)}){_SPACE}"] if words else []
    if guessed or types & {"integer", "number"}:
        whole.append(f"{_SPACE}{_NUMBER}{_SPACE}")
    starts = r"\{" * (guessed or "object" in types) + r"\[" * (guessed or "array" in types) + "0-9\\-" * bounded
    return Misread(tuple(whole), starts)


def string_text(
    schemas: Schemas, branch: Branch, path: Path, unless: Misread = Misread(), markers: Sequence[str] = ()
) -> Text:
    """The strings of `branch`. unless: what would be read as something else.  markers: what no listed string holds."""
    if branch.values is not None:
        return Text(
            constants=tuple(
                literal(value)
                for value in listed(schemas, branch, path)
                if not any(marker in value for marker in markers)
                and not any(re.fullmatch(regex, value) for regex in unless.whole)
                and (not unless.starts or re.fullmatch(unless.otherwise, value))
            )
        )
    schema = branch.schema
    wanted = [checked_regex(schemas, searched(pattern), (*path, "pattern")) for pattern in said(branch, "pattern")]
    wanted += [FORMATS[name] for name in said(branch, "format") if name in FORMATS]
    least, most = schema.get("minLength"), schema.get("maxLength")
    if least or most is not None:
        wanted.append(f"(?s:.{{{least or 0},{'' if most is None else most}}})")
    if unless.starts:
        wanted.append(unless.otherwise)
    return Text(((" & ".join(f"/{regex}/" for regex in wanted) or FREE, unless.whole),))


def listed(schemas: Schemas, branch: Branch, path: Path) -> list[str]:
    """The strings that a schema lists and that keep what it says besides."""
    values = branch.values or []
    return [value for value in values if isinstance(value, str) and _fits(value, branch, schemas, path)]


def said(branch: Branch, keyword: str) -> list[str]:
    """All that a string's schema says by one keyword."""
    parts = branch.schema.get("allOf")
    schemas = [branch.schema, *(part for part in (parts if isinstance(parts, list) else []) if isinstance(part, dict))]
    return [value for schema in schemas if isinstance(value := schema.get(keyword), str)]


def checked_regex(schemas: Schemas, regex: str, path: Path) -> str:
    reason = LLMatcher.validate_grammar(LLMatcher.grammar_from_lark(f"start: T\nT: /{regex}/"))
    if reason:
        said = [line.strip() for line in reason.splitlines() if line.strip().startswith("error:")]
        raise schemas.refuse(path, f"the pattern cannot be enforced: {said[0][7:] if said else reason.splitlines()[0]}")
    return regex


def _fits(value: str, branch: Branch, schemas: Schemas, path: Path) -> bool:
    """Does a listed string keep what the schema says besides?"""
    schema = branch.schema
    least, most = schema.get("minLength"), schema.get("maxLength")
    if (isinstance(least, int) and len(value) < least) or (isinstance(most, int) and len(value) > most):
        return False
    try:
        return all(re.search(pattern, value) is not None for pattern in said(branch, "pattern"))
    except re.error as error:
        raise schemas.refuse((*path, "pattern"), f"the pattern cannot be enforced: {error}") from error


def scalar_text(branch: Branch) -> str | None:
    """A scalar that is no string, as an expression that may stand beside strings in one terminal. None: it cannot."""
    if branch.values is not None:
        return " | ".join(literal(json.dumps(value)) for value in branch.values) or None
    if branch.kind == "null":
        return '"null"'
    if branch.kind == "boolean":
        return '"true" | "false"'
    if branch.kind in ("integer", "number") and not any(key in branch.schema for key in _BOUNDS):
        return f"/{_INTEGER if branch.kind == 'integer' else _NUMBER}/"
    return None


def ended(lines: Lines, rules: CallRules, text: Text, ending: Ending, hint: str = "v") -> str:
    """Lark for a value's text and its ending.

    What a text may not hold is taken from it before the marker is added: from the whole, it costs too much.
    """
    first, *rest = parts(rules, ending.marker)
    # A text without conditions ends where the marker stands first; others must not run over it.
    own = [ending.marker] if isinstance(first, int) else [first] if not text.is_free else []
    body = text.lark([*own, *ending.words], ending.never)
    if ending.layout and not text.is_free:
        inner = lines.terminal(body)
        body = f'("\\n" {inner} "\\n") | ({inner} & {_NO_BREAKS})'
    if isinstance(first, int):
        return f"{lines.terminal(body)} {joined([first, *rest])}"
    lazy = lines.shared(lines.terminal(f"({body}) {literal(first)}"), "lazy", hint)
    return " ".join(filter(None, (lazy, joined(rest))))
