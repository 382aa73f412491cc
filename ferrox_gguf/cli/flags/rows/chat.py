"""How conversations become prompts, and how thinking is steered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from ferrox_gguf.cli.flags.flag import Flag, Group, Value
from ferrox_gguf.cli.flags.values import contents, integer, kind_truth, mapped, on_off_auto, text
from ferrox_gguf.request import ReasoningDisplay
from ferrox_gguf.settings import Settings


def json_object(source: str) -> Mapping[str, object]:
    """A JSON object."""
    try:
        value = json.loads(source)
    except ValueError as error:
        raise ValueError(f"this is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError("expected a JSON object")
    return value


def effort(word: str) -> str | None:
    """Any word the template knows; `default` leaves it to the template."""
    return None if word == "default" else word


def template(settings: Settings, value: object) -> Settings:
    """A built-in's name, or Jinja."""
    return _with_template(settings, str(value), "--chat-template")


def template_file(settings: Settings, value: object) -> Settings:
    """The same, from a file."""
    return _with_template(settings, str(value), "--chat-template-file")


def _with_template(settings: Settings, source: str, origin: str) -> Settings:
    return replace(settings, chat=replace(settings.chat, template=source or None, template_origin=origin))


CHAT_ROWS = (
    Flag(
        names=("--chat-template",),
        group=Group.CHAT,
        value=text("JINJA_TEMPLATE"),
        env=("LLAMA_ARG_CHAT_TEMPLATE",),
        sets=template,
        default="the model's own",
        help="a template by name (chatml, llama3, …: see chat_templates/), or its Jinja source",
    ),
    Flag(
        names=("--chat-template-file",),
        group=Group.CHAT,
        value=contents("JINJA_TEMPLATE_FILE"),
        env=("LLAMA_ARG_CHAT_TEMPLATE_FILE",),
        sets=template_file,
        default="the model's own",
        help="the same, read from a file",
    ),
    Flag(
        names=("--chat-template-kwargs",),
        group=Group.CHAT,
        value=Value("STRING", json_object),
        env=("LLAMA_ARG_CHAT_TEMPLATE_KWARGS",),
        sets="chat.template_kwargs",
        default="none",
        help='variables for the template, as a JSON object: \'{"key": "value"}\'; a request\'s own come after',
    ),
    Flag(
        names=("--jinja",),
        off=("--no-jinja",),
        group=Group.CHAT,
        env=("LLAMA_ARG_JINJA",),
        sets="chat.jinja",
        help="render the model's own template; off: only templates by name, and no tools",
    ),
    Flag(
        names=("--skip-chat-parsing",),
        off=("--no-skip-chat-parsing",),
        group=Group.CHAT,
        env=("LLAMA_ARG_SKIP_CHAT_PARSING",),
        sets="chat.skip_parsing",
        help="answer with everything the model writes as content, thoughts and calls included",
    ),
    Flag(
        names=("--prefill-assistant",),
        off=("--no-prefill-assistant",),
        group=Group.CHAT,
        env=("LLAMA_ARG_PREFILL_ASSISTANT", "FERROX_PREFILL_ASSISTANT"),
        sets="chat.prefill_assistant",
        truth=kind_truth,
        help="when the last message is the assistant's, go on writing it",
    ),
    Flag(
        names=("--tool-call-parser",),
        group=Group.CHAT,
        value=text("NAME"),
        env=("FERROX_TOOL_CALL_PARSER",),
        sets="chat.tool_call_parser",
        default="found from the model",
        ours=True,
        help="read tool calls in this syntax; ferrox-gguf inspect shows what is found",
    ),
)

REASONING_ROWS = (
    Flag(
        names=("-rea", "--reasoning"),
        group=Group.REASONING,
        value=on_off_auto(),
        env=("LLAMA_ARG_REASONING",),
        sets="chat.reasoning.enabled",
        help="let the model think; auto: where its template knows how",
    ),
    Flag(
        names=("--reasoning-format",),
        group=Group.REASONING,
        value=mapped({display.value: display for display in ReasoningDisplay}, hint="FORMAT"),
        env=("LLAMA_ARG_THINK",),
        sets="chat.reasoning.display",
        help="where a thought is shown: in reasoning_content (auto, deepseek), left in content (none), "
        "or both (deepseek-legacy)",
    ),
    Flag(
        names=("--reasoning-effort",),
        group=Group.REASONING,
        value=Value("LEVEL", effort, choices=("default", "minimal", "low", "medium", "high", "xhigh", "max")),
        env=("LLAMA_ARG_REASONING_EFFORT",),
        sets="chat.reasoning.effort",
        default="default, the template's own",
        help="how much to think, in the template's words: minimal, low, medium, high, xhigh, max, …",
    ),
    Flag(
        names=("--reasoning-budget",),
        group=Group.REASONING,
        value=integer(-1),
        env=("LLAMA_ARG_THINK_BUDGET",),
        sets="chat.reasoning.budget",
        default="-1, no limit",
        help="tokens of thought, at most; 0 ends it at once",
    ),
    Flag(
        names=("--reasoning-budget-message",),
        group=Group.REASONING,
        value=text("MESSAGE"),
        env=("LLAMA_ARG_THINK_BUDGET_MESSAGE",),
        sets="chat.reasoning.budget_message",
        help="text written at the end of a thought that used up its budget",
    ),
    Flag(
        names=("--reasoning-preserve",),
        off=("--no-reasoning-preserve",),
        group=Group.REASONING,
        env=("LLAMA_ARG_REASONING_PRESERVE",),
        sets="chat.reasoning.preserve",
        help="show the model its earlier thoughts too, where the template can",
    ),
    Flag(
        names=("--reasoning-parser",),
        group=Group.REASONING,
        value=text("NAME"),
        env=("FERROX_REASONING_PARSER",),
        sets="chat.reasoning.parser",
        default="found from the model",
        ours=True,
        help="read thoughts in this format; ferrox-gguf inspect shows what is found",
    ),
)
