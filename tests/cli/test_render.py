"""`ferrox-gguf render` prints the prompt that a conversation becomes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.templates import templates

from ferrox_gguf.cli import render

USER = {"messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture
def rendered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any):
    def run(template: str, body: Any, *arguments: str) -> tuple[int, str, str]:
        path = tmp_path / "t.jinja"
        path.write_text(templates().get(template, template), encoding="utf-8")
        text = body if isinstance(body, str) else json.dumps(body)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        status = render.run(["--chat-template-file", str(path), *arguments])
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return run


def test_a_conversation_becomes_the_prompt_and_nothing_else(rendered: Any) -> None:
    status, out, _ = rendered("Qwen3.5-4B", USER)
    assert status == 0
    assert out == "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n<think>\n"


def test_keywords_of_the_request_reach_the_template(rendered: Any) -> None:
    _, out, _ = rendered("Qwen3.5-4B", {**USER, "chat_template_kwargs": {"enable_thinking": False}})
    assert out.endswith("<think>\n\n</think>\n\n")


def test_tools_are_shown_to_the_model(rendered: Any) -> None:
    tool = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}
    _, out, _ = rendered("Qwen-Qwen2.5-7B-Instruct", {**USER, "tools": [tool]})
    assert '"name": "look_up"' in out


def test_a_trailing_assistant_message_is_continued_unless_told_otherwise(rendered: Any) -> None:
    talk = {"messages": [*USER["messages"], {"role": "assistant", "content": "Hello, I"}]}
    assert rendered("Qwen-Qwen2.5-7B-Instruct", talk)[1].endswith("<|im_start|>assistant\nHello, I")
    closed = rendered("Qwen-Qwen2.5-7B-Instruct", talk, "--no-prefill-assistant")[1]
    assert "Hello, I<|im_end|>" in closed


def test_json_tells_how_the_thought_was_left(rendered: Any) -> None:
    _, out, _ = rendered("Qwen3.5-4B", USER, "--json")
    assert json.loads(out)["reasoning_block"] == "open"


@pytest.mark.parametrize(
    ("template", "body", "words"),
    [
        ("Qwen-Qwen3-0.6B", "{", "JSON"),
        ("Qwen-Qwen3-0.6B", {"messages": "no"}, "messages"),
        ("{{ raise_exception('We do not talk') }}", USER, "We do not talk"),
    ],
)
def test_what_cannot_be_rendered_is_one_line_and_status_1(rendered: Any, template: str, body: Any, words: str) -> None:
    status, out, err = rendered(template, body)
    assert (status, out) == (1, "")
    assert err.startswith("error: ")
    assert words in err
