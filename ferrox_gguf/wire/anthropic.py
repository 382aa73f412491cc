"""Anthropic's Messages answer: one block per passage, in the order in which the model wrote them.

A stream opens and closes each block once; the whole message is the same blocks, joined. Usage counts what was read from
the cache apart from what was read anew, as Anthropic does.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

import orjson

from ferrox_gguf.events import (
    ContentDelta,
    Finish,
    OutputEvent,
    ReasoningDelta,
    Step,
    StopType,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from ferrox_gguf.json_types import Json
from ferrox_gguf.wire.answer import Asked
from ferrox_gguf.wire.call_ids import CallIds
from ferrox_gguf.wire.errors import WireError
from ferrox_gguf.wire.joined import Joined, Passage, finish_reason

STOP_REASONS = {"length": "max_tokens", "tool_calls": "tool_use", "stop": "end_turn"}
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    503: "overloaded_error",
}
INVALID_INPUT = "INVALID_JSON"
"""Where a call's arguments are no JSON (a model's fault, or a cut): the key under which they are passed on as text."""


class AnthropicAnswer:
    """Frames are named events; the body is one message. There is one choice."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._ids = CallIds("toolu_")
        self._begun = False
        self._blocks = 0
        self._open = ""  # the kind of the block that is open
        self._thought = hashlib.sha256()
        self._cut_call = False

    def frames(self, step: Step) -> bytes:
        out: list[bytes] = []
        if not self._begun and (step.events or step.finish or step.timings):
            self._begun = True
            out.append(self._start(step))
        for event in step.events:
            self._event(event, out)
        if step.finish:
            self._close(out)
            if not self._blocks:
                self._open_block("text", {"type": "text", "text": ""}, out)
                self._close(out)
            out.append(self._delta(step.finish))
        return b"".join(out)

    def done(self) -> bytes:
        return frame({"type": "message_stop"})

    def failed(self, error: WireError) -> bytes:
        return frame(anthropic_error(error))

    def whole(self, joined: Sequence[Joined]) -> bytes:
        one = joined[0]
        reason, word = stop_of(one.ended, one.cut_call)
        ids = CallIds("toolu_")
        blocks: list[Json] = [block_json(passage, ids) for passage in one.passages]
        message = self._message(blocks or [{"type": "text", "text": ""}], usage_json(one.ended.usage))
        return orjson.dumps({**message, "stop_reason": reason, "stop_sequence": word})

    def _start(self, step: Step) -> bytes:
        cached = step.timings.cache_tokens if step.timings else 0
        usage = Usage(prompt_tokens=self._asked.prompt_tokens[0], cached_tokens=cached)
        return frame({"type": "message_start", "message": self._message([], usage_json(usage))})

    def _message(self, content: list[Json], usage: dict[str, Json]) -> dict[str, Json]:
        return {
            "id": self._asked.id,
            "type": "message",
            "role": "assistant",
            "model": self._asked.served.name,
            "content": content,
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }

    def _event(self, event: OutputEvent, out: list[bytes]) -> None:
        if isinstance(event, ContentDelta):
            self._switch("text", {"type": "text", "text": ""}, out)
            self._push({"type": "text_delta", "text": event.text}, out)
        elif isinstance(event, ReasoningDelta):
            self._switch("thinking", {"type": "thinking", "thinking": "", "signature": ""}, out)
            self._thought.update(event.text.encode(errors="replace"))
            self._push({"type": "thinking_delta", "thinking": event.text}, out)
        elif isinstance(event, ToolCallStart):
            self._close(out)
            call: dict[str, Json] = {
                "type": "tool_use",
                "id": self._ids.assign(event.id),
                "name": event.name,
                "input": {},
            }
            self._open_block("tool_use", call, out)
        elif isinstance(event, ToolCallArguments):
            self._push({"type": "input_json_delta", "partial_json": event.fragment}, out)
        else:
            assert isinstance(event, ToolCallEnd)
            self._cut_call = not event.whole
            self._close(out)

    def _switch(self, kind: str, block: dict[str, Json], out: list[bytes]) -> None:
        if self._open != kind:
            self._close(out)
            self._open_block(kind, block, out)

    def _open_block(self, kind: str, block: dict[str, Json], out: list[bytes]) -> None:
        self._open = kind
        out.append(frame({"type": "content_block_start", "index": self._blocks, "content_block": block}))
        self._blocks += 1

    def _push(self, delta: dict[str, Json], out: list[bytes]) -> None:
        out.append(frame({"type": "content_block_delta", "index": self._blocks - 1, "delta": delta}))

    def _close(self, out: list[bytes]) -> None:
        if not self._open:
            return
        if self._open == "thinking":
            self._push({"type": "signature_delta", "signature": signature(self._thought.digest())}, out)
            self._thought = hashlib.sha256()
        out.append(frame({"type": "content_block_stop", "index": self._blocks - 1}))
        self._open = ""

    def _delta(self, finish: Finish) -> bytes:
        reason, word = stop_of(finish, self._cut_call)
        return frame(
            {
                "type": "message_delta",
                "delta": {"stop_reason": reason, "stop_sequence": word},
                "usage": usage_json(finish.usage),
            }
        )


def frame(event: dict[str, Json]) -> bytes:
    """One named server-sent event."""
    return b"event: %b\ndata: %b\n\n" % (str(event["type"]).encode(), orjson.dumps(event))


def block_json(passage: Passage, ids: CallIds) -> Json:
    if passage.call is not None:
        call = passage.call
        return {"type": "tool_use", "id": ids.assign(call.id), "name": call.name, "input": input_json(call.arguments)}
    if passage.thought:
        digest = hashlib.sha256(passage.text.encode(errors="replace")).digest()
        return {"type": "thinking", "thinking": passage.text, "signature": signature(digest)}
    return {"type": "text", "text": passage.text}


def input_json(arguments: str) -> Json:
    try:
        value: Json = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        value = None
    return value if isinstance(value, dict) else {INVALID_INPUT: arguments}


def signature(digest: bytes) -> str:
    """Clients send a thought back only with a signature. Ours proves nothing: it names the text it stands under."""
    return base64.b64encode(digest).decode()


def stop_of(finish: Finish, cut_call: bool) -> tuple[str, str | None]:
    """Anthropic's reason, and the stop sequence that was met."""
    if finish.stop_type is StopType.WORD and not cut_call and finish.stopping_word:
        return "stop_sequence", finish.stopping_word
    return STOP_REASONS[finish_reason(finish, cut_call)], None


def usage_json(usage: Usage) -> dict[str, Json]:
    counted: dict[str, Json] = {
        "input_tokens": usage.prompt_tokens - usage.cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.completion_tokens,
    }
    if usage.reasoning_tokens is not None:
        counted["output_tokens_details"] = {"thinking_tokens": usage.reasoning_tokens}
    return counted


def anthropic_error(error: WireError) -> dict[str, Json]:
    """Anthropic's envelope with Anthropic's type; llama-server's code and facts stay beside the message."""
    name = ERROR_TYPES.get(error.status, "invalid_request_error" if error.status < 500 else "api_error")
    return {"type": "error", "error": {**error.fields(), "type": name}}
