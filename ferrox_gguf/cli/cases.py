"""Cases of `ferrox-gguf parse --jsonl`: a model's raw output, and what is known of the model and the prompt.

Fields: `id`; `template` (a path) or `template_source`; `arch`; `name`; `tools`; `reasoning_open` (did the prompt leave
the thought open) or `prompt` (see for yourself); `reasoning_format`, `tool_format` (null: none; absent: find out);
`raw`; `finish` ("length": cut); `stop`; `mode` ("complete": in one piece, whatever the cut).
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ferrox_gguf.cli.subject import read_text
from ferrox_gguf.errors import FerroxError, InvalidField, TemplateBroken
from ferrox_gguf.events import Step
from ferrox_gguf.jinja import compile_template
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.output.chain import OutputChain
from ferrox_gguf.output.pieces import End, Piece
from ferrox_gguf.posture import PostureInputs, resolve
from ferrox_gguf.posture.aliases import NONE
from ferrox_gguf.posture.open_block import block_state, last_turn
from ferrox_gguf.posture.protocol import turn_header
from ferrox_gguf.posture.values import BlockState, Posture, ReasoningProtocol, ReasoningStyle
from ferrox_gguf.request import ReasoningDisplay, Tool
from ferrox_gguf.wire.description import posture_json
from ferrox_gguf.wire.fields import boolean, string
from ferrox_gguf.wire.generation import parse_stop
from ferrox_gguf.wire.joined import Joined
from ferrox_gguf.wire.messages import parse_tools

CUTS = ("whole", "char", "random")
_LONGEST_PIECE = 12


@dataclass(frozen=True, slots=True)
class Cut:
    """How a text is fed: how is one of CUTS."""

    how: str = "whole"
    seed: int = 0

    def pieces(self, text: str) -> Iterator[str]:
        if self.how == "whole":
            yield text
            return
        if self.how == "char":
            yield from text
            return
        draw, at = random.Random(self.seed), 0  # noqa: S311 (where a test text is cut is no secret)
        while at < len(text):
            step = draw.randint(1, _LONGEST_PIECE)
            yield text[at : at + step]
            at += step


@dataclass
class CaseReader:
    """Runs cases; a posture is resolved once for all cases that share it. template_dir: for relative names."""

    template_dir: Path | None = None
    _postures: dict[tuple[object, ...], Posture] = field(default_factory=dict)
    _sources: dict[Path, str] = field(default_factory=dict)

    def result(self, line: bytes, cut: Cut) -> dict[str, Json]:
        """The result of one case, or its id and the error that is in the case itself."""
        case: JsonObject = {}
        try:
            case = _read(line)
            return {"id": case.get("id"), **self._run(case, cut)}
        except FerroxError as error:
            return {"id": case.get("id"), "error": str(error)}

    def _run(self, case: JsonObject, cut: Cut) -> dict[str, Json]:
        source = self._source(case)
        posture = self._posture(case, source)
        complete = string(case, "mode") == "complete"
        opened = boolean(case, "reasoning_open", False) if case.get("reasoning_open") is not None else None
        prompt = string(case, "prompt") if case.get("prompt") is not None else None
        return parsed(
            string(case, "raw"),
            posture,
            start_state(posture, opened, prompt, source),
            tools=parse_tools(case.get("tools")),
            end=End.CUT if string(case, "finish") == "length" else End.DONE,
            cut=Cut() if complete else cut,
            complete=complete,
            stops=parse_stop(case.get("stop")),
        )

    def _source(self, case: JsonObject) -> str | None:
        if case.get("template_source") is not None:
            return string(case, "template_source")
        name = string(case, "template")
        if not name:
            return None
        path = Path(name) if self.template_dir is None else self.template_dir / name
        if path not in self._sources:
            self._sources[path] = read_text(path)
        return self._sources[path]

    def _posture(self, case: JsonObject, source: str | None) -> Posture:
        name = string(case, "name")
        about = PostureInputs(architecture=string(case, "arch") or None, names=(name,) if name else ())
        asked = {what: _asked(case, what) for what in ("reasoning_format", "tool_format")}
        key = (source, about.architecture, about.names, *asked.values())
        if key not in self._postures:
            self._postures[key] = resolve(
                about, source, reasoning_parser=asked["reasoning_format"], tool_call_parser=asked["tool_format"]
            )
        return self._postures[key]


def _read(line: bytes) -> JsonObject:
    """Python's own reader: a raw output may hold a lone surrogate, which stricter ones refuse."""
    try:
        case = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidField("", f"the line is not JSON: {error}") from None
    if not isinstance(case, dict):
        raise InvalidField("", "a case must be a JSON object")
    return case


def parsed(
    raw: str,
    posture: Posture,
    state: BlockState,
    *,
    tools: Sequence[Tool] = (),
    end: End = End.DONE,
    cut: Cut = Cut(),
    complete: bool = False,
    stops: Sequence[str] = (),
    display: ReasoningDisplay = ReasoningDisplay.AUTO,
) -> dict[str, Json]:
    """One output, fed as cut says, and joined again. Empty reasoning and content are None."""
    chain = OutputChain(posture, state, tools=tools, stops=stops, display=display, complete=complete)
    joined = Joined()
    for text in cut.pieces(raw):
        joined.add(Step(0, tuple(chain.push([Piece(text)]))))
        if chain.stop is not None:
            break
    joined.add(Step(0, tuple(chain.flush(end))))
    calls: list[Json] = []
    for call in joined.calls:
        shown: dict[str, Json] = {"name": call.name, "arguments": call.arguments}
        calls.append({"id": call.id, **shown} if call.id is not None else shown)
    return {
        "reasoning": joined.reasoning or None,
        "content": joined.content or None,
        "tool_calls": calls,
        "posture": posture_json(posture),
    }


def start_state(posture: Posture, opened: bool | None, prompt: str | None, source: str | None) -> BlockState:
    """How the output begins. Without a word about it: as the template's plain prompt does, or else the family."""
    reasoning = posture.reasoning
    if reasoning is None:
        return BlockState.UNOPENED
    if opened is not None:
        return BlockState.OPEN if opened else BlockState.UNOPENED
    if prompt is not None:
        return block_state(last_turn(prompt, _header(posture, source)), reasoning)
    # ATEM's prompt ends inside a header, which is what OPEN means there.
    opens = posture.protocol is ReasoningProtocol.PROMPT_OPENED or reasoning.style is ReasoningStyle.ATEM
    return BlockState.OPEN if opens else BlockState.UNOPENED


def _header(posture: Posture, source: str | None) -> str:
    if source is None or posture.reasoning is None:
        return ""
    try:
        return turn_header(compile_template(source), posture.reasoning)
    except TemplateBroken:
        return ""


def _asked(case: JsonObject, name: str) -> str | None:
    if name not in case:
        return None
    value = case[name]
    if value is None:
        return NONE
    if not isinstance(value, str):
        raise InvalidField(name, f"must be a format's name or null, not {json.dumps(value)}")
    return value
