"""How each family with a JSON payload writes a list of calls: what the shared tests of these syntaxes are made from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Written = Sequence[tuple[str, str]]
"""(name, arguments as the model writes them)."""


def _numbered(calls: Written, form: str) -> list[str]:
    return [
        form.replace("$name", name).replace("$i", str(i)).replace("$args", args) for i, (name, args) in enumerate(calls)
    ]


def _payloads(calls: Written, separator: str = ", ", form: str = '{"name": "$name", "arguments": $args}') -> str:
    return separator.join(_numbered(calls, form))


WRITERS: dict[str, Callable[[Written], str]] = {
    "qwen25": lambda calls: "\n".join(
        _numbered(calls, '<tool_call>\n{"name": "$name", "arguments": $args}\n</tool_call>')
    ),
    "deepseek_r1": lambda calls: (
        "<｜tool▁calls▁begin｜>"
        + "\n".join(
            _numbered(
                calls,
                "<｜tool▁call▁begin｜>function<｜tool▁sep｜>$name\n```json\n$args\n```<｜tool▁call▁end｜>",
            )
        )
        + "<｜tool▁calls▁end｜>"
    ),
    "deepseek_v31": lambda calls: (
        "<｜tool▁calls▁begin｜>"
        + "".join(_numbered(calls, "<｜tool▁call▁begin｜>$name<｜tool▁sep｜>$args<｜tool▁call▁end｜>"))
        + "<｜tool▁calls▁end｜>"
    ),
    "kimi_k2": lambda calls: (
        "<|tool_calls_section_begin|>"
        + "".join(
            _numbered(
                calls,
                "<|tool_call_begin|>functions.$name:$i<|tool_call_argument_begin|>$args<|tool_call_end|>",
            )
        )
        + "<|tool_calls_section_end|>"
    ),
    "llama3": lambda calls: "<|python_tag|>" + _payloads(calls, "; ", '{"name": "$name", "parameters": $args}'),
    "functionary_v31": lambda calls: "".join(_numbered(calls, "<function=$name>$args</function>")),
    "functionary_v32": lambda calls: "".join(_numbered(calls, ">>>$name\n$args")),
    "firefunction": lambda calls: f"functools[{_payloads(calls)}]",
    "mistral": lambda calls: (
        "[TOOL_CALLS][" + _payloads(calls, form='{"name": "$name", "arguments": $args, "id": "00000000$i"}') + "]"
    ),
    "mistral_v11": lambda calls: "".join(_numbered(calls, "[TOOL_CALLS]$name[CALL_ID]00000000$i[ARGS]$args")),
    "command_r_plus": lambda calls: (
        "Action: ```json\n[\n"
        + _payloads(calls, ",\n", '    {\n        "tool_name": "$name",\n        "parameters": $args\n    }')
        + "\n]```"
    ),
    "cohere": lambda calls: (
        "<|START_ACTION|>[\n"
        + _payloads(calls, ",\n", '    {"tool_call_id": "$i", "tool_name": "$name", "parameters": $args}')
        + "\n]<|END_ACTION|>"
    ),
    "granite33": lambda calls: f"<|tool_call|>[{_payloads(calls)}]",
    "nemotron_v2": lambda calls: f"<TOOLCALL>[{_payloads(calls)}]</TOOLCALL>",
    "apertus": lambda calls: "<|tools_prefix|>[" + _payloads(calls, form='{"$name": $args}') + "]<|tools_suffix|>",
    "apriel": lambda calls: f"<tool_calls>[{_payloads(calls)}]</tool_calls>",
    "minimax_m1": lambda calls: "<tool_calls>\n" + _payloads(calls, "\n") + "\n</tool_calls>",
    "gigachat3": lambda calls: "<|message_sep|>\n\nfunction call<|role_sep|>\n" + _payloads(calls, "\n"),
    "gigachat31": lambda calls: "<|function_call|>" + _payloads(calls, "\n"),
    "solar_open": lambda calls: (
        "<|tool_calls|>"
        + "".join(
            _numbered(
                calls,
                "<|tool_call:begin|>a1b2c3d4e$i<|tool_call:name|>$name<|tool_call:args|>$args<|tool_call:end|>",
            )
        )
        + "<|calls|>"
    ),
}
