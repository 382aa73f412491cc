"""Corrections of embedded templates that are known to be broken: the rules in `chat_templates/fixes/`.

A rule says by which words a template is recognised (`when`, all of them), what is replaced (`find`, a regular
expression, by `put`), and why. A template that no longer holds the passage is left alone.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache

from ferrox_gguf.template.named import folder


@dataclass(frozen=True, slots=True)
class Fix:
    """One rule. name: of its file; the fields are the file's."""

    name: str
    reason: str
    when: tuple[str, ...]
    find: str
    put: str


def corrected(source: str) -> tuple[str, tuple[str, ...]]:
    """The source after every rule that applies, and the names of those that changed it."""
    applied = []
    for fix in fixes():
        if all(words in source for words in fix.when):
            source, count = re.subn(fix.find, fix.put.replace("\\", "\\\\"), source)
            if count:
                applied.append(fix.name)
    return source, tuple(applied)


@lru_cache(maxsize=1)
def fixes() -> tuple[Fix, ...]:
    """All rules, in order of name."""
    found = []
    for path in sorted((folder() / "fixes").glob("*.json")):
        rule = json.loads(path.read_text(encoding="utf-8"))
        found.append(Fix(path.stem, rule["reason"], tuple(rule["when"]), rule["find"], rule["put"]))
    return tuple(found)
