"""OpenAI's text completions: `/v1/completions`."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.events import ContentDelta, Finish, Step, TokenInfo
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.request import CompletionRequest
from ferrox_gguf.wire.answer import DONE, Asked, data_frame, error_frame, total_usage
from ferrox_gguf.wire.errors import WireError
from ferrox_gguf.wire.fields import boolean
from ferrox_gguf.wire.joined import Joined, finish_reason
from ferrox_gguf.wire.native import NativeAnswer, parse_completion
from ferrox_gguf.wire.probabilities import legacy_logprobs_json
from ferrox_gguf.wire.served import Served
from ferrox_gguf.wire.timings import progress_json, timings_json


def parse_text_completion(body: JsonObject, served: Served) -> CompletionRequest:
    if boolean(body, "echo", False):
        raise InvalidField("echo", "only false is supported")
    for name in ("best_of", "suffix"):
        if body.get(name) is not None:
            raise InvalidField(name, "is not supported")
    return parse_completion(body, served)


class TextCompletionAnswer:
    """One object, or chunks of the same shape and a final [DONE]."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._native = NativeAnswer(asked)
        self._lengths = [0] * asked.choices
        self._finishes: dict[int, Finish] = {}

    def frames(self, step: Step) -> bytes:
        text = "".join(event.text for event in step.events if isinstance(event, ContentDelta))
        chunk = b""
        if text or step.infos or step.progress:
            chunk = data_frame(self._partial(step, text))
            self._lengths[step.choice] += len(text)
        if step.finish:
            self._finishes[step.choice] = step.finish
            chunk += data_frame(self._last(step.choice, step.finish))
        return chunk

    def done(self) -> bytes:
        if not self._asked.presentation.include_usage:
            return DONE
        return data_frame({**self._base([]), "usage": self._usage()}) + DONE

    def failed(self, error: WireError) -> bytes:
        return error_frame(error)

    def whole(self, joined: Sequence[Joined]) -> bytes:
        choices: list[Json] = [
            self._choice(index, one.content, one.infos, finish_reason(one.ended, False))
            for index, one in enumerate(joined)
        ]
        self._finishes = {index: one.ended for index, one in enumerate(joined)}
        body = {**self._base(choices), "usage": self._usage(), "timings": timings_json(joined[0].ended.timings)}
        if self._asked.presentation.verbose:
            body["__verbose"] = self._native.final(0, joined[0])
        return orjson.dumps(body)

    def _partial(self, step: Step, text: str) -> dict[str, Json]:
        chunk = self._base([self._choice(step.choice, text, step.infos, None)])
        if self._asked.presentation.timings_per_token and step.timings:
            chunk["timings"] = timings_json(step.timings)
        if step.progress:
            chunk["prompt_progress"] = progress_json(step.progress)
        return chunk

    def _last(self, choice: int, finish: Finish) -> dict[str, Json]:
        """The usage stands in the last chunk, unless the client asked for a chunk of its own."""
        chunk = self._base([self._choice(choice, "", (), finish_reason(finish, False))])
        chunk["timings"] = timings_json(finish.timings)
        if len(self._finishes) == self._asked.choices and not self._asked.presentation.include_usage:
            chunk["usage"] = self._usage()
        return chunk

    def _choice(self, index: int, text: str, infos: Sequence[TokenInfo], reason: str | None) -> dict[str, Json]:
        after_sampling = self._asked.generation.post_sampling_probs
        logprobs = legacy_logprobs_json(infos, self._lengths[index], after_sampling) if infos else None
        return {"text": text, "index": index, "logprobs": logprobs, "finish_reason": reason}

    def _base(self, choices: list[Json]) -> dict[str, Json]:
        asked = self._asked
        return {
            "choices": choices,
            "created": asked.created,
            "model": asked.served.name,
            "system_fingerprint": asked.served.fingerprint,
            "object": "text_completion",
            "id": asked.id,
        }

    def _usage(self) -> dict[str, Json]:
        usages = [self._finishes[choice].usage for choice in range(self._asked.choices)]
        return total_usage(usages, self._asked.generation.n)
