"""The constraint of DeepSeek V3.1's calls: `NAME<｜tool▁sep｜>{…}`."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class DeepSeekV31(JsonForm):
    """Calls abut."""

    opener = "<｜tool▁calls▁begin｜>"
    call = "<｜tool▁call▁begin｜>$name<｜tool▁sep｜>$arguments<｜tool▁call▁end｜>"
    closer = "<｜tool▁calls▁end｜>"
