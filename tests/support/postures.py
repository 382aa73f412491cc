"""A posture from a template's signature alone, for tests of rooms that only need one."""

from __future__ import annotations

from ferrox_gguf.posture.known import FAMILIES
from ferrox_gguf.posture.signatures import SIGNATURES
from ferrox_gguf.posture.values import Posture


def posture_of(source: str) -> Posture:
    for signature in SIGNATURES:
        if signature.matches(source):
            return posture_named(signature.family)
    return Posture()


def posture_named(family: str) -> Posture:
    row = FAMILIES[family]
    return Posture(reasoning=row.reasoning, tool_format=row.tool_format, family=row.name)
