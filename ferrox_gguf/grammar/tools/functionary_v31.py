"""The constraint of Functionary v3.1's calls: `<function=NAME>{…}</function>`."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class FunctionaryV31(JsonForm):
    """Calls abut."""

    call = "<function=$name>$arguments</function>"
