"""OpenAI's chat completions: one object, or chunks whose deltas come in the order in which the model wrote them.

A chunk is built from bytes that never change and one small JSON value, since this runs once for every token.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from ferrox_gguf.events import (
    ContentDelta,
    Finish,
    OutputEvent,
    ReasoningDelta,
    Step,
    StopType,
    TokenInfo,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)
from ferrox_gguf.json_types import Json
from ferrox_gguf.wire.answer import DONE, Asked, error_frame, total_usage
from ferrox_gguf.wire.call_ids import CallIds
from ferrox_gguf.wire.errors import WireError
from ferrox_gguf.wire.joined import Joined, finish_reason
from ferrox_gguf.wire.native import NativeAnswer
from ferrox_gguf.wire.probabilities import probabilities_json
from ferrox_gguf.wire.timings import progress_json, timings_json

ROLE = b'{"role":"assistant","content":null}'
CHUNK = b'data: {"choices":[{"finish_reason":%b,"index":%d,"delta":%b%b}],%b%b}\n\n'
NO_CHOICE = b'data: {"choices":[],%b%b}\n\n'


class ChatAnswer:
    """What a conversation's next message looks like to an OpenAI client."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._choices = [ChoiceState() for _ in range(asked.choices)]
        self._finishes: dict[int, Finish] = {}
        self._native = NativeAnswer(asked)
        # Every chunk ends with the same fields: the inside of an object, without its braces.
        self._head = orjson.dumps(self._base("chat.completion.chunk"))[1:-1]

    def frames(self, step: Step) -> bytes:
        state = self._choices[step.choice]
        out = b""
        if not state.begun:
            state.begun = True
            out = self._chunk(step.choice, ROLE, tail=self._progress(step))
        elif step.progress:
            out = NO_CHOICE % (self._head, self._progress(step))
        if step.infos:
            state.infos += step.infos
        for event in step.events:
            delta = state.delta(event)
            if delta:
                out += self._chunk(step.choice, delta, self._logprobs(state), self._timings(step))
        return out + self._last(step.choice, step.finish) if step.finish else out

    def done(self) -> bytes:
        """The usage in a chunk without choices, if asked for, and the timings with it."""
        if not self._asked.presentation.include_usage:
            return DONE
        tail = {"usage": self._usage(), "timings": timings_json(self._finishes[0].timings)}
        return NO_CHOICE % (self._head, b"," + orjson.dumps(tail)[1:-1]) + DONE

    def failed(self, error: WireError) -> bytes:
        return error_frame(error)

    def whole(self, joined: Sequence[Joined]) -> bytes:
        self._finishes = {index: one.ended for index, one in enumerate(joined)}
        body: dict[str, Json] = {
            "choices": [self._choice(index, one) for index, one in enumerate(joined)],
            **self._base("chat.completion"),
            "usage": self._usage(),
            "timings": timings_json(joined[0].ended.timings),
        }
        if self._asked.presentation.verbose:
            body["__verbose"] = self._native.final(0, joined[0])
        return orjson.dumps(body)

    def _choice(self, index: int, joined: Joined) -> dict[str, Json]:
        choice: dict[str, Json] = {
            "finish_reason": finish_reason(joined.ended, joined.cut_call),
            "index": index,
            "message": message_json(joined),
        }
        if joined.infos:
            choice["logprobs"] = {"content": self._probabilities(joined.infos)}
        return choice

    def _last(self, choice: int, finish: Finish) -> bytes:
        self._finishes[choice] = finish
        state, tail = self._choices[choice], b""
        if not self._asked.presentation.include_usage:
            tail = b',"timings":' + orjson.dumps(timings_json(finish.timings))
        if self._asked.presentation.verbose:
            verbose = Joined(content=state.content, finish=finish)
            tail += b',"__verbose":' + orjson.dumps(self._native.final(choice, verbose))
        if finish.stop_type is StopType.WORD:
            # Tokens of which nothing was shown belong to the stop string.
            state.infos = []
        reason = b'"%b"' % finish_reason(finish, state.cut_call).encode()
        return self._chunk(choice, b"{}", self._logprobs(state), tail, reason)

    def _chunk(
        self, choice: int, delta: bytes, logprobs: bytes = b"", tail: bytes = b"", reason: bytes = b"null"
    ) -> bytes:
        return CHUNK % (reason, choice, delta, logprobs, self._head, tail)

    def _logprobs(self, state: ChoiceState) -> bytes:
        """Probabilities of tokens whose text was held back ride on the next chunk that shows something."""
        if not state.infos:
            return b""
        infos, state.infos = state.infos, []
        return b',"logprobs":' + orjson.dumps({"content": self._probabilities(infos)})

    def _timings(self, step: Step) -> bytes:
        if not step.timings or not self._asked.presentation.timings_per_token:
            return b""
        return b',"timings":' + orjson.dumps(timings_json(step.timings))

    def _progress(self, step: Step) -> bytes:
        if not step.progress:
            return b""
        return b',"prompt_progress":' + orjson.dumps(progress_json(step.progress)) + self._timings(step)

    def _probabilities(self, infos: Sequence[TokenInfo]) -> list[Json]:
        return probabilities_json(infos, self._asked.generation.post_sampling_probs)

    def _usage(self) -> dict[str, Json]:
        usages = [self._finishes[choice].usage for choice in range(self._asked.choices)]
        return total_usage(usages, self._asked.generation.n)

    def _base(self, name: str) -> dict[str, Json]:
        asked = self._asked
        return {
            "created": asked.created,
            "id": asked.id,
            "model": asked.served.name,
            "system_fingerprint": asked.served.fingerprint,
            "object": name,
        }


class ChoiceState:
    """One choice of a stream: what was said of it so far."""

    __slots__ = ("begun", "content", "cut_call", "ids", "infos")

    def __init__(self) -> None:
        self.begun, self.cut_call, self.content = False, False, ""
        self.ids = CallIds()
        self.infos: list[TokenInfo] = []

    def delta(self, event: OutputEvent) -> bytes:
        """The event as a delta's JSON; nothing for the end of a call, which OpenAI does not announce."""
        if isinstance(event, ContentDelta):
            return b'{"content":%b}' % orjson.dumps(event.text)
        if isinstance(event, ReasoningDelta):
            return b'{"reasoning_content":%b}' % orjson.dumps(event.text)
        if isinstance(event, ToolCallStart):
            start = {
                "index": event.index,
                "id": self.ids.assign(event.id),
                "type": "function",
                "function": {"name": event.name, "arguments": ""},
            }
            return b'{"tool_calls":[%b]}' % orjson.dumps(start)
        if isinstance(event, ToolCallArguments):
            fragment = orjson.dumps(event.fragment)
            return b'{"tool_calls":[{"index":%d,"function":{"arguments":%b}}]}' % (event.index, fragment)
        assert isinstance(event, ToolCallEnd)
        self.cut_call = not event.whole
        return b""


def message_json(joined: Joined) -> dict[str, Json]:
    """content is null beside calls when there is none, as OpenAI has it, and "" otherwise."""
    message: dict[str, Json] = {"role": "assistant", "content": joined.content or (None if joined.calls else "")}
    if joined.reasoning:
        message["reasoning_content"] = joined.reasoning
    if joined.calls:
        ids = CallIds()
        message["tool_calls"] = [
            {
                "id": ids.assign(call.id),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in joined.calls
        ]
    return message
