"""`<function=NAME>{…}</function>`: Functionary v3.1."""

from __future__ import annotations

from ferrox_gguf.output.tool_calls.named import NamedSection


class FunctionaryV31(NamedSection):
    """Calls abut, in no section."""

    call_opener = "<function="
    separators = (">",)
    call_closers = ("</function>",)
