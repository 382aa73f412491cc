"""The constraint of Functionary v3.2's calls: `>>>NAME`, a line break, `{…}`. The prompt ends with the first `>>>`."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class FunctionaryV32(JsonForm):
    """The recipient stands at the output's start, behind the marker from the second call on."""

    call = "$name\n$arguments"
    separator = ">>>"
