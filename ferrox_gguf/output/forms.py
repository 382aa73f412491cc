"""Which syntaxes a posture's calls are looked for in, in which order."""

from __future__ import annotations

from ferrox_gguf.output.channels.envelope import AtemCalls, HarmonyCalls
from ferrox_gguf.output.tool_calls import SYNTAXES, Syntax
from ferrox_gguf.output.tool_calls.custom import json_syntax, named_syntax
from ferrox_gguf.output.tool_calls.custom_tagged import tagged_syntax
from ferrox_gguf.posture.known import HERMES
from ferrox_gguf.posture.values import Posture


def native_syntax(posture: Posture) -> Syntax | None:
    """The family's own form; None when it has none. A new instance: syntaxes may keep what they read."""
    if posture.tool_format == "gpt_oss":
        return HarmonyCalls()
    if posture.tool_format == "muse_glimmer":
        return AtemCalls()
    if posture.call_markers is not None:
        make = {"json": json_syntax, "name_json": named_syntax, "tagged": tagged_syntax}.get(
            posture.call_markers.payload
        )
        return make(posture.call_markers) if make else None
    make_known = SYNTAXES.get(posture.tool_format or "")
    return make_known() if make_known else None


def syntaxes(posture: Posture) -> tuple[Syntax, ...]:
    """The native form first, then Hermes, which every model may have learnt (O4)."""
    native = native_syntax(posture)
    hermes = () if posture.tool_format == HERMES else (SYNTAXES[HERMES](),)
    return ((native,) if native else ()) + hermes
