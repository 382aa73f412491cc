"""OpenAI's Responses answer: items in the order in which the model wrote them.

A stream announces each item and part, streams it, and closes it with its whole; the last event holds the response that
a request without a stream gets. One builder makes both.
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
    TokenInfo,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from ferrox_gguf.json_types import Json
from ferrox_gguf.wire.answer import Asked, random_id
from ferrox_gguf.wire.call_ids import CallIds
from ferrox_gguf.wire.errors import WireError
from ferrox_gguf.wire.joined import Joined, Passage, finish_reason
from ferrox_gguf.wire.probabilities import probabilities_json
from ferrox_gguf.wire.responses_request import Echo
from ferrox_gguf.wire.timings import progress_json, timings_json

MESSAGE, REASONING, CALL = "message", "reasoning", "function_call"


class Item:
    """One output item while it is written. text: the words, the thought, or the call's arguments."""

    def __init__(self, kind: str, index: int) -> None:
        self.kind, self.index = kind, index
        self.id = random_id({MESSAGE: "msg_", REASONING: "rs_", CALL: "fc_"}[kind])
        self.text, self.name, self.call_id = "", "", ""
        self.whole = True
        self.logprobs: list[Json] = []

    def part(self) -> dict[str, Json]:
        if self.kind == REASONING:
            return {"type": "reasoning_text", "text": self.text}
        return {"type": "output_text", "text": self.text, "annotations": [], "logprobs": self.logprobs}

    def json(self, status: str) -> dict[str, Json]:
        head: dict[str, Json] = {"id": self.id, "type": self.kind, "status": status}
        if self.kind == CALL:
            return {**head, "call_id": self.call_id, "name": self.name, "arguments": self.text}
        content: list[Json] = [self.part()] if self.text else []
        if self.kind == REASONING:
            return {**head, "summary": [], "content": content, "encrypted_content": None}
        return {**head, "role": "assistant", "content": content}


class ResponsesAnswer:
    """One response. echo: what of the request it repeats."""

    def __init__(self, asked: Asked, echo: Echo) -> None:
        self._asked, self._echo = asked, echo
        self._ids = CallIds()
        self._items: list[Item] = []
        self._open: Item | None = None
        self._infos: list[TokenInfo] = []
        self._sequence = 0
        self._begun = False
        self._cut_call = False
        self._finish: Finish | None = None

    # -- a stream

    def frames(self, step: Step) -> bytes:
        out: list[bytes] = []
        if not self._begun:
            self._begun = True
            response = self._response("in_progress", [], None)
            out.append(self._frame("response.created", {"response": response}))
            out.append(self._frame("response.in_progress", {"response": response}, self._progress(step)))
        elif step.progress:
            response = self._response("in_progress", [], None)
            out.append(self._frame("response.in_progress", {"response": response}, self._progress(step)))
        self._infos += step.infos
        for event in step.events:
            self._event(event, step, out)
        if step.finish:
            self._finish = step.finish
            self._close(out, self._status(step.finish))
        return b"".join(out)

    def done(self) -> bytes:
        """Always `response.completed`, as llama-server ends a stream; its status says what a limit left incomplete."""
        assert self._finish is not None
        status = self._status(self._finish)
        response = self._response(status, self._output(status), self._finish.usage)
        return self._frame(
            "response.completed", {"response": response}, {"timings": timings_json(self._finish.timings)}
        )

    def failed(self, error: WireError) -> bytes:
        fault: dict[str, Json] = {"code": "server_error", "message": error.message}
        response = {**self._response("failed", self._output("incomplete"), None), "error": fault}
        said: dict[str, Json] = {"code": str(error.status), "message": error.message, "param": None}
        return self._frame("error", said) + self._frame("response.failed", {"response": response})

    # -- a body

    def whole(self, joined: Sequence[Joined]) -> bytes:
        one = joined[0]
        for passage in one.passages:
            self._items.append(self._whole_item(passage))
        self._cut_call = one.cut_call
        if one.cut_call and self._items:
            self._items[-1].whole = False
        if one.infos and (said := [item for item in self._items if item.kind == MESSAGE]):
            said[0].logprobs = self._probabilities(one.infos)
        status = self._status(one.ended)
        response = self._response(status, self._output(status), one.ended.usage)
        return orjson.dumps(response)

    def _whole_item(self, passage: Passage) -> Item:
        kind = CALL if passage.call else REASONING if passage.thought else MESSAGE
        item = Item(kind, len(self._items))
        item.text = passage.call.arguments if passage.call else passage.text
        if passage.call:
            item.name, item.call_id = passage.call.name, self._ids.assign(passage.call.id)
        return item

    # -- events

    def _event(self, event: OutputEvent, step: Step, out: list[bytes]) -> None:
        if isinstance(event, ContentDelta):
            item = self._passage(MESSAGE, out)
            # Tokens whose text was held back are reported with the next text that is shown.
            logprobs, self._infos = self._probabilities(self._infos), []
            item.logprobs += logprobs
            self._delta(item, "response.output_text.delta", event.text, out, {"logprobs": logprobs}, step)
        elif isinstance(event, ReasoningDelta):
            self._delta(self._passage(REASONING, out), "response.reasoning_text.delta", event.text, out, {}, step)
        elif isinstance(event, ToolCallStart):
            self._close(out)
            item = Item(CALL, len(self._items))
            item.name, item.call_id = event.name, self._ids.assign(event.id)
            self._announce(item, out)
        elif isinstance(event, ToolCallArguments):
            assert self._open is not None
            self._open.text += event.fragment
            out.append(
                self._frame("response.function_call_arguments.delta", {"delta": event.fragment, **at(self._open)})
            )
        else:
            assert isinstance(event, ToolCallEnd)
            self._cut_call = not event.whole
            self._close(out, "completed" if event.whole else "incomplete")

    def _delta(self, item: Item, name: str, text: str, out: list[bytes], extra: dict[str, Json], step: Step) -> None:
        item.text += text
        timed = step.timings if self._asked.presentation.timings_per_token else None
        tail: dict[str, Json] = {"timings": timings_json(timed)} if timed else {}
        out.append(self._frame(name, {"delta": text, **at(item), "content_index": 0, **extra}, tail))

    def _passage(self, kind: str, out: list[bytes]) -> Item:
        if self._open is not None and self._open.kind == kind:
            return self._open
        self._close(out)
        item = Item(kind, len(self._items))
        self._announce(item, out)
        part = {**at(item), "content_index": 0, "part": item.part()}
        out.append(self._frame("response.content_part.added", part))
        return item

    def _announce(self, item: Item, out: list[bytes]) -> None:
        self._open = item
        self._items.append(item)
        added: dict[str, Json] = {"output_index": item.index, "item": item.json("in_progress")}
        out.append(self._frame("response.output_item.added", added))

    def _close(self, out: list[bytes], status: str = "completed") -> None:
        item, self._open = self._open, None
        if item is None:
            return
        item.whole = status == "completed"
        if item.kind == CALL:
            done = {**at(item), "arguments": item.text}
            out.append(self._frame("response.function_call_arguments.done", done))
        else:
            said = "output_text" if item.kind == MESSAGE else "reasoning_text"
            done = {**at(item), "content_index": 0, "text": item.text}
            if item.kind == MESSAGE:
                done["logprobs"] = item.logprobs
            out.append(self._frame(f"response.{said}.done", done))
            part = {**at(item), "content_index": 0, "part": item.part()}
            out.append(self._frame("response.content_part.done", part))
        whole: dict[str, Json] = {"output_index": item.index, "item": item.json(status)}
        out.append(self._frame("response.output_item.done", whole))

    def _frame(self, name: str, fields: dict[str, Json], tail: dict[str, Json] | None = None) -> bytes:
        event = {"type": name, "sequence_number": self._sequence, **fields, **(tail or {})}
        self._sequence += 1
        return b"event: %b\ndata: %b\n\n" % (name.encode(), orjson.dumps(event))

    def _progress(self, step: Step) -> dict[str, Json]:
        return {"prompt_progress": progress_json(step.progress)} if step.progress else {}

    def _probabilities(self, infos: Sequence[TokenInfo]) -> list[Json]:
        return probabilities_json(infos, self._asked.generation.post_sampling_probs)

    # -- the response object

    def _status(self, finish: Finish) -> str:
        return "incomplete" if finish_reason(finish, self._cut_call) == "length" else "completed"

    def _output(self, status: str) -> list[Json]:
        """The last item is incomplete when the response is; those before it were closed."""
        last = len(self._items) - 1
        return [
            item.json("incomplete" if not item.whole or (item.index == last and status != "completed") else "completed")
            for item in self._items
        ]

    def _response(self, status: str, output: list[Json], usage: Usage | None) -> dict[str, Json]:
        asked, echo = self._asked, self._echo
        return {
            "id": asked.id,
            "object": "response",
            "created_at": asked.created,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "instructions": echo.instructions,
            "max_output_tokens": echo.max_output_tokens,
            "metadata": dict(echo.metadata),
            "model": asked.served.name,
            "output": output,
            "parallel_tool_calls": echo.parallel_tool_calls,
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None, **echo.reasoning},
            "temperature": echo.temperature,
            "text": dict(echo.text),
            "tool_choice": echo.tool_choice,
            "tools": [dict(tool) for tool in echo.tools],
            "top_p": echo.top_p,
            "truncation": "disabled",
            "usage": None if usage is None else usage_json(usage),
            "user": None,
        }


def at(item: Item) -> dict[str, Json]:
    """Where an event belongs."""
    return {"item_id": item.id, "output_index": item.index}


def usage_json(usage: Usage) -> dict[str, Json]:
    """C11: the client's schema requires reasoning_tokens here, so a model without a reasoning format gets 0."""
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }
