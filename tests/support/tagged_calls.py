"""How each family with tagged parameters writes a call of one string argument: what shared tests are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ferrox_gguf.request import Tool

M3 = "]<]minimax[>["
HY3 = ":opensource"

NOTE = Tool(
    "note",
    parameters={
        "type": "object",
        "properties": {
            "body": {"type": "string"},
            "count": {"type": "integer"},
            "label": {"type": ["string", "null"]},
            "pinned": {"type": "boolean"},
            "extra": {"type": "object"},
        },
    },
)


@dataclass(frozen=True)
class Markup:
    """Pieces of a syntax: NAME and KEY stand for a name and a key.

    section: around all calls.  call: up to the name's end, and the call's end.  value: around the text of one value.
    between: stands between two arguments.
    """

    call: tuple[str, str]
    value: tuple[str, str]
    section: tuple[str, str] = ("", "")
    between: str = ""

    def write(self, *calls: tuple[str, dict[str, str]]) -> str:
        return self.section[0] + "".join(self.one(name, arguments) for name, arguments in calls) + self.section[1]

    def one(self, name: str, arguments: dict[str, str]) -> str:
        return self.opened(name) + self.between.join(self.argument(*item) for item in arguments.items()) + self.call[1]

    def opened(self, name: str) -> str:
        return self.call[0].replace("NAME", name)

    def head(self, key: str) -> str:
        return self.value[0].replace("KEY", key)

    def argument(self, key: str, value: str) -> str:
        return self.head(key) + value + self.value[1].replace("KEY", key)


FORMS: dict[str, Markup] = {
    "qwen3_coder": Markup(
        ("<tool_call>\n<function=NAME>\n", "</function>\n</tool_call>\n"),
        ("<parameter=KEY>\n", "\n</parameter>\n"),
    ),
    "seed_oss": Markup(
        ("<seed:tool_call>\n<function=NAME>\n", "</function>\n</seed:tool_call>\n"),
        ("<parameter=KEY>", "</parameter>\n"),
    ),
    "glm47": Markup(
        ("<tool_call>NAME\n", "</tool_call>\n"),
        ("<arg_key>KEY</arg_key>\n<arg_value>", "</arg_value>\n"),
    ),
    "hunyuan_v3": Markup(
        (f"<tool_call{HY3}>NAME<tool_sep{HY3}>\n", f"</tool_call{HY3}>\n"),
        (f"<arg_key{HY3}>KEY</arg_key{HY3}>\n<arg_value{HY3}>", f"</arg_value{HY3}>\n"),
        section=(f"<tool_calls{HY3}>\n", f"</tool_calls{HY3}>"),
    ),
    "minicpm5": Markup(
        ('<function name="NAME">', "</function>\n"),
        ('<param name="KEY">', "</param>"),
    ),
    "minimax": Markup(
        ('<invoke name="NAME">\n', "</invoke>\n"),
        ('<parameter name="KEY">', "</parameter>\n"),
        section=("<minimax:tool_call>\n", "</minimax:tool_call>"),
    ),
    "minimax_m3": Markup(
        (f'{M3}<invoke name="NAME">', f"{M3}</invoke>\n"),
        (f"{M3}<KEY>", f"{M3}</KEY>"),
        section=(f"{M3}<tool_call>\n", f"{M3}</tool_call>"),
    ),
    "deepseekv32": Markup(
        ('<｜DSML｜invoke name="NAME">\n', "</｜DSML｜invoke>\n"),
        ('<｜DSML｜parameter name="KEY" string="true">', "</｜DSML｜parameter>\n"),
        section=("<｜DSML｜function_calls>\n", "</｜DSML｜function_calls>"),
    ),
    "kimi_k3": Markup(
        ('<|open|>call tool="NAME" index="1"<|sep|>', "<|close|>call<|sep|>"),
        ('<|open|>argument key="KEY" type="string"<|sep|>', "<|close|>argument<|sep|>"),
        section=("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),
    ),
    "gemma4": Markup(("<|tool_call>call:NAME{", "}<tool_call|>"), ('KEY:<|"|>', '<|"|>'), between=","),
    "lfm2": Markup(
        ("NAME(", ")"),
        ('KEY="', '"'),
        section=("<|tool_call_start|>[", "]<|tool_call_end|>"),
        between=", ",
    ),
}

LITERAL = ("gemma4", "lfm2")
"""Syntaxes whose literals decide the type."""

UNTYPED: Sequence[str] = [name for name in FORMS if name not in (*LITERAL, "deepseekv32")]
"""Syntaxes whose values are typed by the tool's schema."""
