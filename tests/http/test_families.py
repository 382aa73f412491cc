"""Every family with a real template, through llama.cpp: a GGUF that says what the specification's cases say.

The template is the family's own, the prompt is rendered, tokenised and decoded, and the official client hears the
answer whole and streamed. The reasoning markers are control tokens of the vocabulary; everything else is bytes.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.scripted_gguf import write_scripted_gguf
from support.serving import serving
from support.talk import Talk
from support.templates import templates

from ferrox_gguf.gguf import FileFacts
from ferrox_gguf.output.alphabet import marker_texts
from ferrox_gguf.posture.resolve import resolve
from ferrox_gguf.posture.values import BlockState, Posture
from ferrox_gguf.runtime.load import assemble
from ferrox_gguf.server.ready import make_ready
from ferrox_gguf.settings import ChatSettings, ContextSettings, CpuSettings, ModelSettings, Settings
from ferrox_gguf.template.render import Renderer
from ferrox_gguf.wire.chat_request import parse_chat
from ferrox_gguf.wire.served import Served

GOLDEN = Path(__file__).parents[1] / "golden" / "output_cases.jsonl"
QUESTION = [{"role": "user", "content": "Which?"}]
BUILT_IN = ("<unk>", "<s>", "</s>")
COMPANIONS = {"solar_open": ("<|calls|>", "<|flush|>")}
"""Tokens by which llama.cpp knows that `<|end|>` does not end generation in this family."""
ROOM = 64
FRESH = {"cache_prompt": False}
"""Both ways of asking then have the same counts."""


@dataclass(frozen=True)
class Scene:
    """A golden case with its template's own prompt in front. controls: texts that are one token each."""

    case: dict
    template: str
    posture: Posture
    controls: tuple[str, ...]
    prompt: str
    block: BlockState
    asked: dict

    @property
    def fits(self) -> bool:
        """Does this prompt leave the block as the case wants it?"""
        return self.case["reasoning_open"] == (self.block is BlockState.OPEN)

    @property
    def fields(self) -> dict:
        tools = {"tools": self.case["tools"]} if self.case["tools"] else {}
        return {**tools, "extra_body": {**FRESH, **self.asked}}

    def pieces(self, text: str) -> list[str]:
        """One piece a token: markers whole, all else byte by byte."""
        markers = [re.escape(text) for text in sorted(self.controls, key=len, reverse=True)]
        out: list[str] = []
        for part in re.split(f"({'|'.join(markers)})", text):
            out += [part] if part in self.controls else [f"<0x{byte:02X}>" for byte in part.encode()]
        return out

    @property
    def prompt_tokens(self) -> int:
        """SentencePiece writes a space as U+2581: where a marker has that letter it is one token, not three bytes."""
        return len(self.pieces(self.prompt.replace("\u2581", " ")))


ASKED = ({}, {"reasoning_effort": "high"}, {"enable_thinking": False})
"""What a client may say about thinking, until the prompt is the one that a case was made for."""


def scene_of(case: dict) -> Scene:
    template = templates()[case["template"].removesuffix(".jinja")]
    posture = resolve(FileFacts("scripted.gguf", "gpt2", name=case.get("name")), template)
    renderer = Renderer(template, posture, bos_token="<s>", eos_token="</s>")
    scenes = [scene_asked(case, asked, renderer, posture) for asked in ASKED]
    return next((scene for scene in scenes if scene.fits), scenes[0])


def scene_asked(case: dict, asked: dict, renderer: Renderer, posture: Posture) -> Scene:
    request = parse_chat({"messages": QUESTION, "tools": case["tools"], **asked}, Served("m", "b"))
    rendered = renderer.render(request, ChatSettings())
    controls = (*BUILT_IN, *marker_texts(posture.reasoning), *COMPANIONS.get(posture.tool_format or "", ()))
    return Scene(case, renderer.source, posture, controls, rendered.text, rendered.block, asked)


def cases() -> list[dict]:
    """Cases that a stream can show: those of templates, checked on both paths."""
    lines = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    return [case for case in lines if case["template"] and case.get("mode") != "complete"]


def speaking(scene: Scene, folder: Path):
    """A server whose model says the case's text behind the case's prompt."""
    path, script, start = folder / "scripted.gguf", scene.pieces(scene.case["raw"]), scene.prompt_tokens
    write_scripted_gguf(
        path,
        script=script,
        start=start,
        chat_template=scene.template,
        control=[text for text in scene.controls if text not in BUILT_IN],
        name=scene.case.get("name") or "scripted",
        n_ctx=start + len(script) + ROOM,
    )
    settings = Settings(
        model=ModelSettings(path=str(path), warmup=False),
        # One thread: the model is next to nothing, and two would wait for each other.
        context=ContextSettings(n_parallel=1, cpu=CpuSettings(n_threads=1)),
    )

    def make():
        assembled = assemble(settings, asyncio.get_running_loop())
        assembled.engine.start()
        return make_ready(settings, assembled)

    return serving(make, settings)


def heard(answer) -> dict:
    """An answer as the cases write it."""
    message = answer.choices[0].message
    reasoning = getattr(message, "reasoning_content", None) or ""
    return {
        "reasoning": reasoning.strip() or None,
        "content": (message.content or "").strip() or None,
        "tool_calls": [(call.function.name, call.function.arguments) for call in message.tool_calls or ()],
    }


def expected(case: dict) -> dict:
    wanted = dict(case["expected"])
    for name in ("reasoning", "content"):
        wanted[name] = (wanted.get(name) or "").strip() or None
    return wanted


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_a_family_is_heard_over_http_as_the_specification_says(case, tmp_path):
    scene = scene_of(case)
    if not scene.fits:
        pytest.skip("the template's own prompt leaves the block otherwise than this case wants")
    cut = case.get("finish") == "length"
    limit = {"max_tokens": len(scene.pieces(case["raw"]))} if cut else {}
    with speaking(scene, tmp_path) as url:
        answer = Talk(url).agree(messages=QUESTION, temperature=0, **scene.fields, **limit)
    said, wanted, unchecked = heard(answer), expected(case), case.get("unchecked", ())
    for name in ("reasoning", "content"):
        if name not in unchecked:
            assert said[name] == wanted[name], name
    if "tool_calls" not in unchecked:
        assert [name for name, _ in said["tool_calls"]] == [call["name"] for call in wanted["tool_calls"]]
        if not cut:
            calls = [json.loads(arguments) for _, arguments in said["tool_calls"]]
            assert calls == [call["arguments"] for call in wanted["tool_calls"]]
    if cut:
        assert answer.choices[0].finish_reason == "length"
    else:
        assert answer.choices[0].finish_reason == ("tool_calls" if wanted["tool_calls"] else "stop")
    details = answer.usage.completion_tokens_details
    assert (details is not None) == (scene.posture.reasoning is not None)


def test_every_template_is_heard_at_least_once():
    played = {scene.case["template"] for scene in map(scene_of, cases()) if scene.fits}
    assert played == {case["template"] for case in cases()}
