"""The constraint of DeepSeek R1's calls: `function<｜tool▁sep｜>NAME`, then the object in a fence."""

from __future__ import annotations

from ferrox_gguf.grammar.tools.json_form import JsonForm


class DeepSeekR1(JsonForm):
    """A line break stands between two calls."""

    opener = "<｜tool▁calls▁begin｜>"
    call = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>$name\n```json\n$arguments\n```<｜tool▁call▁end｜>"
    separator = "\n"
    closer = "<｜tool▁calls▁end｜>"
