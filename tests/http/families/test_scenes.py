"""Every family with a real template plays five scenes to the official client, streamed and not.

A thought and its answer; a thought and calls; a thought that a limit cut; a thought that is continued; an answer that
is continued. One small GGUF a family says them all through llama.cpp, under the family's own template and with its
markers as tokens. What each must be heard as, and what it must count, is told by `support/speech.py` and by the
script's own tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import httpx
import pytest
from support.playing_lines import SPELLED, as_script, padded, playing, special_tokens, thinking_tokens, tokens
from support.scripted_gguf import Line
from support.speech import SPEECH, Run, Speech
from support.talk import Talk
from support.templates import templates

from ferrox_gguf.gguf import FileFacts
from ferrox_gguf.posture.resolve import resolve
from ferrox_gguf.settings import ChatSettings
from ferrox_gguf.template.render import Renderer
from ferrox_gguf.wire.chat_request import parse_chat
from ferrox_gguf.wire.served import Served

QUESTION = "Which hour?"
THOUGHT = "The Küche has a clock:\nit shows 12."
ANSWER = "Noon, as far as 🦀 know."
CALLS = (("get_weather", {"city": "Zürich", "unit": "celsius"}), ("lookup", {"code": "007"}))
FRESH = {"cache_prompt": False}
"""Both ways of asking then have the same counts."""
ASKED = ({}, {"reasoning_effort": "high"})
"""What a client may say until the model may think."""


def tool(name, *parameters):
    properties = {parameter: {"type": "string"} for parameter in parameters}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return {"type": "function", "function": {"name": name, "description": f"{name} it", "parameters": schema}}


TOOLS = [tool("get_weather", "city", "unit"), tool("lookup", "code")]


@dataclass
class Scene:
    """What is asked, what the model says to it, and what a client must hear."""

    body: dict
    runs: list[Run]
    reasoning: str | None = None
    content: str | None = None
    calls: tuple = ()
    end: str = "</s>"
    line: Line | None = field(default=None)
    said: list[bytes] = field(default_factory=list)


class Family:
    """One template's scenes. The renderer is asked only how the prompt leaves the block and how long it is at most."""

    def __init__(self, template: str) -> None:
        self.speech: Speech = SPEECH[template]
        self.source = templates()[template]
        posture = resolve(FileFacts("scripted.gguf", "gpt2", name=self.speech.name), self.source)
        self.renderer = Renderer(self.source, posture, bos_token="<s>", eos_token="</s>")

    def prompt(self, body: dict) -> str:
        return self.renderer.render(parse_chat(body, Served("m", "b")), ChatSettings()).text

    def body(self, *last: dict, **fields) -> dict:
        """A request under which the model may think."""
        messages = [{"role": "user", "content": QUESTION}, *last]
        bodies = [{"messages": messages, **fields, **asked} for asked in ASKED]
        return next((body for body in bodies if not self.closed(body)), bodies[0])

    def closed(self, body: dict) -> bool:
        begun, ended = self._block(body)
        return ended > begun >= 0

    def opened(self, body: dict) -> bool:
        begun, ended = self._block(body)
        return begun > ended

    def _block(self, body: dict) -> tuple[int, int]:
        """Where the block begins and ends in what the template put behind the question; -1 where it does not."""
        opener, closer = self.speech.opener.strip(), self.speech.closer.strip()
        added = self.prompt(body).rpartition(QUESTION)[2]
        return (added.rfind(opener) if opener else -1, added.rfind(closer) if closer else -1)

    @cached_property
    def spelled(self) -> str:
        """The family's opener, spelled out in the answer: text, since the vocabulary has a token for it."""
        opener = self.speech.opener.strip()
        return f" Not {opener[:2]}{SPELLED}{opener[2:]}." if opener else ""

    def thinking(self, body: dict) -> list[Run]:
        return self.speech.think(THOUGHT, opened=self.opened(body))

    def answering(self) -> Scene:
        body, answer = self.body(), ANSWER + self.spelled
        thought = THOUGHT if self.speech.thinks else None
        runs = [*self.thinking(body), *self.speech.answer(answer)]
        return Scene(body, runs, thought, answer, end=self.speech.ends[0])

    def calling(self) -> Scene:
        body = self.body(tools=TOOLS)
        calls = CALLS if self.speech.parallel else CALLS[:1]
        thought = THOUGHT if self.speech.thinks else None
        runs = [*self.thinking(body), *self.speech.call(calls)]
        return Scene(body, runs, thought, calls=calls, end=self.speech.ends[1])

    def thinking_on(self) -> Scene:
        body = self.body(
            {"role": "assistant", "reasoning_content": "I was"}, continue_final_message="reasoning_content"
        )
        closed = [Run(f" looking.{self.speech.closer}", thinks=True), Run(self.speech.layout)]
        return Scene(body, [*closed, *self.speech.answer(ANSWER)], " looking.", ANSWER)

    def answering_on(self) -> Scene:
        body = self.body({"role": "assistant", "content": "It is"})
        return Scene(body, self.speech.continued(" noon. 🦀"), None, " noon. 🦀")

    def scenes(self) -> dict[str, Scene]:
        made = {"answers": self.answering(), "calls": self.calling()}
        if self.speech.thought and self.speech.thinks:
            made["thinks on"] = self.thinking_on()
        if self.speech.content:
            made["answers on"] = self.answering_on()
        return made


def staged(family: Family, scenes: dict[str, Scene]) -> list[str]:
    """Give every scene its place in the model, one behind the other; the special tokens."""
    special = special_tokens(family.source, family.speech, [scene.runs for scene in scenes.values()])
    stop = 0
    for scene in scenes.values():
        scene.said = tokens(scene.runs, special)
        # A prompt has no more tokens than bytes; the rest is filled up when it is asked.
        start = max(stop, len(family.prompt(scene.body).encode())) + 1
        scene.line = Line(start, [as_script(token) for token in scene.said], scene.end)
        stop = scene.line.stop
    return special


def spoken(answer) -> dict:
    """An answer, and what it cost, in the words of `expected`."""
    choice, usage = answer.choices[0], answer.usage
    details = usage.completion_tokens_details
    return {
        "reasoning": getattr(choice.message, "reasoning_content", None),
        "content": choice.message.content,
        "calls": [(call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()],
        "finish": choice.finish_reason,
        "completion": usage.completion_tokens,
        "thinking": details and details.reasoning_tokens,
        "total": usage.total_tokens - usage.completion_tokens,
    }


def compact(arguments) -> str:
    return "{" + ",".join(f'"{key}":"{value}"' for key, value in arguments.items()) + "}"


def expected(family: Family, scene: Scene) -> dict:
    said, thinks = scene.said, family.speech.thinks
    return {
        "reasoning": scene.reasoning,
        "content": scene.content and scene.content.replace(SPELLED, ""),
        "calls": [(name, compact(arguments)) for name, arguments in scene.calls],
        "finish": "tool_calls" if scene.calls else "stop",
        "completion": len(said) + 1,
        "thinking": thinking_tokens(scene.runs, said) if thinks else None,
        "total": scene.line.start,
    }


def cut_in(text: str, said: list[bytes]) -> tuple[int, str]:
    """A number of tokens that end inside the text, behind a letter, and the part of the text that they hold."""
    whole = b"".join(said).decode()
    at = whole.index(text)
    for count in range(len(said), 0, -1):
        held = b"".join(said[:count]).decode(errors="ignore")[at:]
        if held and len(held) < len(text) - 3 and held[-1].isalpha() and text.startswith(held):
            return count, held
    raise AssertionError("nothing to cut")


def show_cut(family: Family, scene: Scene, ask) -> None:
    text = (scene.reasoning or scene.content).split(SPELLED)[0]
    limit, held = cut_in(text, scene.said)
    answer = spoken(ask(scene, max_tokens=limit))
    thinks = family.speech.thinks
    assert answer == {
        "reasoning": held if thinks else None,
        "content": "" if thinks else held,
        "calls": [],
        "finish": "length",
        "completion": limit,
        "thinking": limit if thinks else None,
        "total": scene.line.start,
    }


def show_refusals(family: Family, client: httpx.Client, url: str) -> None:
    """What cannot be continued says so, and by what name."""
    speech = family.speech
    thought, content = {"reasoning_content": "I was"}, {"content": "It is"}
    for said, possible in ((thought, speech.thought and speech.thinks), (content, speech.content)):
        if possible:
            continue
        body = {"messages": [{"role": "user", "content": QUESTION}, {"role": "assistant", **said}]}
        answer = client.post(url + "/v1/chat/completions", json=body)
        error = answer.json()["error"]
        assert (answer.status_code, error["type"]) == (501, "not_supported_error")
        assert "--no-prefill-assistant" in error["message"]
        closed = client.post(url + "/apply-template", json={**body, "continue_final_message": False})
        assert closed.status_code == 200


@pytest.mark.behaviour("C1")
@pytest.mark.behaviour("C12")
@pytest.mark.behaviour("O1")
@pytest.mark.behaviour("O4")
@pytest.mark.behaviour("K4")
@pytest.mark.behaviour("K8")
@pytest.mark.parametrize("template", templates())
def test_a_family_plays_its_scenes(template, tmp_path):
    family = Family(template)
    scenes = family.scenes()
    special = staged(family, scenes)
    lines = [scene.line for scene in scenes.values()]
    with (
        playing(tmp_path / "m.gguf", lines, template=family.source, special=special, name=family.speech.name) as url,
        httpx.Client(verify=False) as client,  # nothing here is encrypted
    ):
        talk = Talk(url)

        def ask(scene: Scene, **fields):
            messages = padded(client, url, scene.line, scene.body)
            body = {key: value for key, value in scene.body.items() if key not in ("messages", "tools")}
            offered = {"tools": scene.body["tools"]} if "tools" in scene.body else {}
            return talk.agree(messages=messages, temperature=0, extra_body={**FRESH, **body}, **offered, **fields)

        for name, scene in scenes.items():
            answer = ask(scene)
            assert spoken(answer) == expected(family, scene), name
            if scene.calls and family.speech.ids:
                assert tuple(call.id for call in answer.choices[0].message.tool_calls) == family.speech.ids
        show_cut(family, scenes["answers"], ask)
        show_refusals(family, client, url)


def test_every_template_has_a_row_of_its_own():
    assert set(SPEECH) == set(templates())
