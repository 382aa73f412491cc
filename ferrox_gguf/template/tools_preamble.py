"""Tools for a template that cannot render them: the Hermes form, taught in words and used for the history as well.

`<tool_call>{…}</tool_call>` is what the parsers try for every model (`output/tool_calls/hermes.py`). Inside this mode
everything about tools is plain text, so that the form in the history is the form that was taught.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from ferrox_gguf.request import Message, Tool, ToolCall, ToolChoice, ToolChoiceMode
from ferrox_gguf.template.text import joined, text_of
from ferrox_gguf.template.tool_schemas import described


def preamble(tools: Sequence[Tool], choice: ToolChoice, parallel: bool) -> str:
    """What the model is told about its tools and how to call them."""
    listed = "\n".join(json.dumps(described(tool), ensure_ascii=False) for tool in tools)
    rules = [
        "You can call functions. Each line between <tools> and </tools> describes one of them, as a JSON object:",
        f"<tools>\n{listed}\n</tools>",
        "To call a function, write its name and its arguments as one JSON object between <tool_call> and </tool_call>:",
        '<tool_call>\n{"name": "FUNCTION", "arguments": {"PARAMETER": "VALUE"}}\n</tool_call>',
        "What the function returns is then given to you between <tool_response> and </tool_response>.",
    ]
    if parallel:
        rules.append("You may call several functions at once: write one such block after the other.")
    if choice.mode is ToolChoiceMode.REQUIRED:
        rules.append("Answer with a function call.")
    elif choice.mode is ToolChoiceMode.NAMED:
        rules.append(f"Answer with a call of {choice.name}.")
    else:
        rules.append("When no function helps, answer without calling one.")
    return "\n".join(rules)


def taught(messages: Sequence[Message], text: str) -> list[Message]:
    """The conversation with the preamble after its system text, or as its system text."""
    first = messages[0] if messages else None
    if first is not None and first.role in ("system", "developer"):
        return [replace(first, content=joined(first.content, text, "\n\n")), *messages[1:]]
    return [Message("system", text), *messages]


def calls_as_text(messages: Sequence[Message], tool_format: str | None = None) -> list[Message]:
    """Calls written into the content of their message, results as user messages.

    tool_format: the family's own form, where the template shows its tools but forgets its past calls; Hermes otherwise.
    """
    return results_as_text([_call_turn_as_text(message, tool_format) for message in messages])


def results_as_text(messages: Sequence[Message]) -> list[Message]:
    """Results as user messages, those of one turn in one message."""
    out: list[Message] = []
    in_run = False
    for message in messages:
        if message.role != "tool":
            out.append(message)
            in_run = False
            continue
        text = f"<tool_response>\n{text_of(message.content)}\n</tool_response>"
        if in_run:
            out[-1] = replace(out[-1], content=joined(out[-1].content, text, "\n"))
        else:
            out.append(Message("user", text))
        in_run = True
    return out


def _call_turn_as_text(message: Message, tool_format: str | None) -> Message:
    if not message.tool_calls:
        return message
    write = _FORMS.get(tool_format or "", _hermes)
    content = joined(message.content, write(message.tool_calls), "\n")
    return replace(message, content=content, tool_calls=())


def _hermes(calls: Sequence[ToolCall]) -> str:
    return "\n".join(
        f'<tool_call>\n{{"name": {_quoted(call.name)}, "arguments": {call.arguments or "{}"}}}\n</tool_call>'
        for call in calls
    )


def _granite(calls: Sequence[ToolCall]) -> str:
    objects = (f'{{"name": {_quoted(call.name)}, "arguments": {call.arguments or "{}"}}}' for call in calls)
    return f"<|tool_call|>[{', '.join(objects)}]"


def _lfm2(calls: Sequence[ToolCall]) -> str:
    return f"<|tool_call_start|>[{', '.join(map(_python_call, calls))}]<|tool_call_end|>"


def _python_call(call: ToolCall) -> str:
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = {}
    named = arguments.items() if isinstance(arguments, dict) else ()
    return f"{call.name}({', '.join(f'{key}={value!r}' for key, value in named)})"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_FORMS = {"granite33": _granite, "lfm2": _lfm2}
"""Families whose template shows tools and loses past calls (Appendix B: "lost")."""
