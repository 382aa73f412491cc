"""How conversations become prompts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from ferrox_gguf.cli.flags.flag import Flag, Group, State, Value
from ferrox_gguf.cli.flags.values import contents, kind_truth, text
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


def template(settings: Settings, value: object) -> Settings:
    """A built-in's name, or Jinja."""
    return _with_template(settings, str(value), "--chat-template")


def template_file(settings: Settings, value: object) -> Settings:
    """The same, from a file."""
    return _with_template(settings, str(value), "--chat-template-file")


def _with_template(settings: Settings, source: str, origin: str) -> Settings:
    return replace(settings, chat=replace(settings.chat, template=source or None, template_origin=origin))


ROWS = (
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
        state=State.ACCEPTED,
        why="the model's own template is rendered either way; llama.cpp's guesses at known ones are not needed",
        help="render the model's own template",
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
