"""llama-server's own dialect: `/completion` and `/completions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson

from ferrox_gguf.events import ContentDelta, Finish, Step, TokenInfo
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.request import CompletionRequest
from ferrox_gguf.wire.answer import Asked, data_frame, error_frame
from ferrox_gguf.wire.errors import WireError
from ferrox_gguf.wire.generation import parse_generation
from ferrox_gguf.wire.joined import Joined
from ferrox_gguf.wire.probabilities import probabilities_json
from ferrox_gguf.wire.prompts import parse_prompts
from ferrox_gguf.wire.served import Served
from ferrox_gguf.wire.settings_json import generation_settings
from ferrox_gguf.wire.timings import progress_json, timings_json


def parse_completion(body: JsonObject, served: Served) -> CompletionRequest:
    return CompletionRequest(parse_prompts(body.get("prompt")), parse_generation(body, served))


class NativeAnswer:
    """Frames of `content` and `tokens`; the last one carries everything that is known of the run."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._texts = [Told() for _ in range(asked.choices)]

    def frames(self, step: Step) -> bytes:
        told = self._texts[step.choice]
        text = "".join(event.text for event in step.events if isinstance(event, ContentDelta))
        told.tokens += len(step.tokens)
        told.has_new_line = told.has_new_line or "\n" in text
        frames = b""
        if step.tokens or step.progress or (step.events and not step.finish):
            frames, text = data_frame(self._partial(step, text, told)), ""
        if step.finish:
            frames += data_frame(self._last(step.choice, step.finish, text, (), (), told.has_new_line))
        return frames

    def done(self) -> bytes:
        return b""

    def failed(self, error: WireError) -> bytes:
        return error_frame(error)

    def whole(self, joined: Sequence[Joined]) -> bytes:
        answers = [self.final(choice, one) for choice, one in enumerate(joined)]
        return orjson.dumps(answers[0] if len(answers) == 1 else answers)

    def final(self, choice: int, joined: Joined) -> dict[str, Json]:
        """The complete object of one choice, which other dialects show as `__verbose`."""
        tokens = joined.tokens if self._asked.presentation.return_tokens else []
        return self._last(choice, joined.ended, joined.content, tokens, joined.infos, "\n" in joined.content)

    def _partial(self, step: Step, text: str, told: Told) -> dict[str, Json]:
        asked = self._asked
        partial: dict[str, Json] = {
            "index": step.choice,
            "content": text,
            "tokens": list(step.tokens),
            "stop": False,
            "id_slot": step.slot,
            "tokens_predicted": told.tokens,
            "tokens_evaluated": asked.prompt_tokens[step.choice],
        }
        if asked.presentation.timings_per_token and step.timings:
            partial["timings"] = timings_json(step.timings)
        if step.progress:
            partial["prompt_progress"] = progress_json(step.progress)
        if step.infos:
            partial["completion_probabilities"] = self._probabilities(step.infos)
        return partial

    def _last(
        self,
        choice: int,
        finish: Finish,
        content: str,
        tokens: Sequence[int],
        infos: Sequence[TokenInfo],
        has_new_line: bool,
    ) -> dict[str, Json]:
        asked, timings = self._asked, finish.timings
        answer: dict[str, Json] = {
            "index": choice,
            "content": content,
            "tokens": list(tokens),
            "id_slot": finish.slot,
            "stop": True,
            "model": asked.served.name,
            "tokens_predicted": timings.predicted_tokens,
            "tokens_evaluated": asked.prompt_tokens[choice],
            "generation_settings": generation_settings(asked, finish.seed),
            "prompt": asked.prompt_text(choice),
            "has_new_line": has_new_line,
            "truncated": finish.truncated,
            "stop_type": finish.stop_type.value,
            "stopping_word": finish.stopping_word,
            # The token that ended generation was sampled but never evaluated, so it is not in the slot.
            "tokens_cached": asked.prompt_tokens[choice] + max(timings.predicted_tokens - 1, 0),
            "timings": timings_json(timings),
        }
        if infos:
            answer["completion_probabilities"] = self._probabilities(infos)
        fields = asked.presentation.response_fields
        return select(answer, fields) if fields else answer

    def _probabilities(self, infos: Sequence[TokenInfo]) -> list[Json]:
        return probabilities_json(infos, self._asked.generation.post_sampling_probs)


class Told:
    """What a stream has told of one choice so far."""

    __slots__ = ("has_new_line", "tokens")

    def __init__(self) -> None:
        self.tokens, self.has_new_line = 0, False


def select(answer: Mapping[str, Json], paths: Sequence[str]) -> dict[str, Json]:
    """`response_fields`: each path under its own name, `a/b` included; what is not there is left out."""
    found: dict[str, Json] = {}
    for path in paths:
        value: Json = dict(answer)
        for key in path.split("/"):
            if not isinstance(value, dict) or key not in value:
                break
            value = value[key]
        else:
            found[path] = value
    return found
