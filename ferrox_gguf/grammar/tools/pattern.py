"""A schema's expressions for strings as llguidance's regular expressions, which match a text as a whole.

JSON Schema searches, so what is not anchored is padded. What this translation cannot say exactly is left to llguidance
to refuse; where dialects differ (`\\d`, `.`), the narrower reading is taken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

ANYTHING = "(?s:.*)"

_DAY = r"(?:0[1-9]|1[0-9]|2[0-8])"
_DATE = rf"[0-9]{{4}}-(?:(?:0[1-9]|1[0-2])-{_DAY}|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_CLOCK = r"T(?:[0-9]+H(?:[0-9]+M)?(?:[0-9]+S)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DATED = r"(?:[0-9]+Y(?:[0-9]+M)?(?:[0-9]+D)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"

FORMATS = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "duration": rf"P(?:{_DATED}(?:{_CLOCK})?|{_CLOCK}|[0-9]+W)",
    "email": rf"[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*@{_LABEL}(?:\.{_LABEL})+",
    "hostname": rf"{_LABEL}(?:\.{_LABEL}){{0,3}}",
    "ipv4": rf"{_BYTE}(?:\.{_BYTE}){{3}}",
    "ipv6": r"(?:(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|(?:[0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F]{1,4}|::1?)",
    "uuid": r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
    "uri": r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:\/?#@!$&'()*+,;=%-]+",
}
"""Plain writings of each format, without JSON's quotes; rarer ones (a leap day, mixed IPv6) are left out."""

_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_"}
_ITEM = re.compile(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)|.", re.DOTALL)


def searched(pattern: str) -> str:
    """The body of a regex that matches whole texts in which `pattern` is found."""
    return "|".join(_anchored(branch) for branch in _branches(pattern))


def _anchored(tokens: list[str]) -> str:
    before, after = ANYTHING, ANYTHING
    if tokens and tokens[0] == "^":
        before, tokens = "", tokens[1:]
    if tokens and tokens[-1] == "$":
        after, tokens = "", tokens[:-1]
    return f"{before}(?:{''.join(tokens)}){after}"


def _branches(pattern: str) -> list[list[str]]:
    """The alternatives at the pattern's top, translated."""
    branches: list[list[str]] = [[]]
    depth, in_class = 0, False
    for item in _ITEM.findall(pattern):
        if item == "|" and depth == 0 and not in_class:
            branches.append([])
            continue
        branches[-1].append(_translated(item, in_class))
        if in_class:
            in_class = item != "]"
        elif item == "[":
            in_class = True
        elif item in "()":
            depth += 1 if item == "(" else -1
    return branches


def _translated(item: str, in_class: bool) -> str:
    if item[0] == "\\" and len(item) == 2:
        kind = item[1]
        if (letters := _CLASSES.get(kind.lower())) is not None and (kind.islower() or not in_class):
            return letters if in_class else f"[{'' if kind.islower() else '^'}{letters}]"
        return r"\/" if kind == "/" else item
    if in_class:
        return f"\\{item}" if item in "[&~/" else _control(item)
    return r"[^\n\r]" if item == "." else r"\/" if item == "/" else _control(item)


def _control(item: str) -> str:
    return f"\\x{{{ord(item):x}}}" if len(item) == 1 and ord(item) < 32 else item


def quoted(text: str) -> str:
    """A text as a regex that matches it and nothing else."""
    return "".join(c if c.isalnum() or ord(c) > 127 else f"\\x{{{ord(c):x}}}" for c in text)


def without(markers: Sequence[str]) -> list[str]:
    """Expressions, with no look-arounds, that hold for strings in which none of `markers` is found.

    Each rules out one part of a marker: the longest whose first character does not come again in it, so that one pass
    decides. Parts that begin alike are ruled out together.
    """
    # Asked the same for every value of a grammar.
    return [*_without(tuple(markers))]


@lru_cache(maxsize=256)
def _without(markers: tuple[str, ...]) -> list[str]:
    tries: dict[str, _Trie] = {}
    for marker in markers:
        if any(other in marker and other != marker for other in markers):
            continue
        part = max((_head(marker[at:]) for at in range(len(marker))), key=len)
        tries.setdefault(part[0], _Trie()).add(part[1:])
    return [
        f"^[^{quoted(first)}]*$" if trie.whole else f"^[^{quoted(first)}]*(?:{quoted(first)}{trie.rest(first)})*$"
        for first, trie in tries.items()
    ]


class _Trie:
    def __init__(self) -> None:
        self._next: dict[str, _Trie] = {}
        self.whole = False

    def add(self, text: str) -> None:
        if not text:
            self.whole = True
        elif not self.whole:
            self._next.setdefault(text[0], _Trie()).add(text[1:])

    def rest(self, first: str) -> str:
        """What may follow up to the next `first`, where none of these texts may."""
        known = "".join(map(quoted, (first, *self._next)))
        paths = [f"[^{known}][^{quoted(first)}]*"]
        paths += [f"{quoted(char)}{child.rest(first)}" for char, child in self._next.items() if not child.whole]
        return f"(?:{'|'.join(paths)})?"


def _head(text: str) -> str:
    again = text.find(text[0], 1)
    return text if again < 0 else text[:again]
