"""`ferrox-gguf render`: a conversation (JSON on standard input, as for /apply-template) as the prompt it becomes."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from ferrox_gguf.cli.subject import Subject, add_subject_flags, subject_of
from ferrox_gguf.errors import FerroxError
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.settings import ChatSettings
from ferrox_gguf.template.render import RenderedPrompt, Renderer
from ferrox_gguf.wire.chat_request import parse_chat
from ferrox_gguf.wire.fields import parse_body
from ferrox_gguf.wire.served import Served


def run(arguments: Sequence[str]) -> int:
    """Print the prompt, exactly: nothing is added to it. Exit status 1 when the template or the request is refused."""
    parser = argparse.ArgumentParser(prog="ferrox-gguf render", description=__doc__.split("\n")[0])
    add_subject_flags(parser, positional=True)
    parser.add_argument("--no-prefill-assistant", action="store_true", help="close a trailing assistant message")
    parser.add_argument("--json", action="store_true", help="the prompt and how it leaves the thought, as JSON")
    given = parser.parse_args(arguments)
    try:
        rendered = render(
            subject_of(given),
            parse_body(sys.stdin.buffer.read()),
            ChatSettings(prefill_assistant=not given.no_prefill_assistant),
        )
    except FerroxError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    text = json.dumps(_as_json(rendered), ensure_ascii=False) + "\n" if given.json else rendered.text
    sys.stdout.buffer.write(text.encode("utf-8", errors="replace"))
    sys.stdout.buffer.flush()
    return 0


def render(subject: Subject, body: JsonObject, settings: ChatSettings) -> RenderedPrompt:
    """The prompt of one request. Raises RequestError or NotSupported as the server would."""
    request = parse_chat(body, Served("render", "b0"))
    facts, tools = subject.facts, bool(request.tools)
    renderer = Renderer(
        subject.template.serving(tools=tools),
        subject.posture(tools=tools),
        bos_token=subject.inputs.bos_token,
        eos_token=subject.inputs.eos_token,
        add_bos=bool(facts and facts.add_bos),
        add_eos=bool(facts and facts.add_eos),
    )
    return renderer.render(request, settings)


def _as_json(rendered: RenderedPrompt) -> dict[str, Json]:
    return {"prompt": rendered.text, "added": rendered.added, "reasoning_block": rendered.block.value}
