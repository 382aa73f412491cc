"""Backslash escapes in texts given as flags."""

from __future__ import annotations

import re

SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "'": "'", '"': '"', "\\": "\\"}


def unescaped(text: str) -> str:
    r"""`\n`, `\r`, `\t`, `\'`, `\"`, `\\` and bytes as `\x41`; any other backslash stays."""
    if "\\" not in text:
        return text
    raw = re.sub(rb"\\(x[0-9a-fA-F]{2}|.)", _byte, text.encode(), flags=re.DOTALL)
    return raw.decode(errors="replace")


def _byte(found: re.Match[bytes]) -> bytes:
    letter = found[1]
    if len(letter) == 3:
        return bytes.fromhex(letter[1:].decode())
    simple = SIMPLE.get(letter.decode("latin-1"))
    return simple.encode() if simple else found[0]
