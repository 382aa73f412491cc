"""The constraint of Apertus's calls: `<|tools_prefix|>[{"NAME": {…}}, …]<|tools_suffix|>`."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class Apertus(JsonForm):
    """The function's name is the key."""

    opener = "<|tools_prefix|>["
    call = "{$quoted: $arguments}"
    separator = ", "
    closer = "]<|tools_suffix|>"
