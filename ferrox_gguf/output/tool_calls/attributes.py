"""Heads with attributes, `<invoke name="NAME">`, and plain ones, `<function=NAME>`."""

from __future__ import annotations

import re

from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps

HEAD_LIMIT = 512
"""Characters that a name, or all attributes of a head, may take: text that only looks like a head is soon given up."""

_ATTRIBUTE = re.compile(r"""\s+([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_ATTRIBUTES = re.compile(rf"(?:{_ATTRIBUTE.pattern})+\s*")


def read_attributes(text: Cursor, opener: str, close: str) -> Steps[dict[str, str] | None]:
    """Consume `opener`, attributes, `close`; None and nothing consumed if that is not what stands here."""
    start = text.at
    if not (yield from text.take(opener)):
        return None
    inside = text.at
    while (yield from text.until((close,), limit=HEAD_LIMIT - (text.at - inside))) is not None:
        attributes = text.text[inside : text.at]
        text.at += len(close)
        if _ATTRIBUTES.fullmatch(attributes):
            return {name: double or single for name, double, single in _ATTRIBUTE.findall(attributes)}
        if text.at - inside > HEAD_LIMIT:
            break
    text.back(start)
    return None


def read_label(text: Cursor, opener: str, close: str) -> Steps[str | None]:
    """Consume `opener`, a name on one line, `close`, and return the name, trimmed; None: nothing consumed."""
    start = text.at
    if (yield from text.take(opener)):
        label = yield from text.until((close, "\n"), limit=HEAD_LIMIT)
        if label is not None and label.strip() and (yield from text.take(close)):
            return label.strip()
    text.back(start)
    return None
