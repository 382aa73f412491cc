import time
from datetime import datetime

import pytest
from support.postures import posture_named, posture_of
from support.templates import template

from ferrox_gguf.errors import TemplateFailed, TemplateRefused
from ferrox_gguf.jinja import bounds
from ferrox_gguf.posture.values import BlockState, Posture
from ferrox_gguf.request import ChatRequest, Message, ToolCall
from ferrox_gguf.settings import ChatSettings
from ferrox_gguf.template import named, probe
from ferrox_gguf.template.render import Renderer

QUESTION = Message("user", "Why?")


def prompt(source, *messages, posture=None, tokens=None, **fields):
    renderer = Renderer(source, posture or Posture(), **(tokens or {}))
    return renderer.render(ChatRequest(messages or (QUESTION,), **fields), ChatSettings())


def test_the_generation_prompt_is_what_the_template_adds_for_this_turn():
    rendered = prompt(named.source("chatml"))
    assert rendered.text == "<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"
    assert rendered.added == "<|im_start|>assistant\n"


def test_no_generation_prompt_is_added_when_the_client_says_so():
    rendered = prompt(named.source("chatml"), add_generation_prompt=False)
    assert rendered.text == "<|im_start|>user\nWhy?<|im_end|>\n"
    assert (rendered.added, rendered.block) == ("", BlockState.UNOPENED)


def test_a_token_that_the_tokenizer_writes_itself_is_taken_off_the_text():
    source = "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}{{ eos_token }}"
    tokens = {"bos_token": "<s>", "eos_token": "</s>"}
    assert prompt(source, tokens=tokens).text == "<s>Why?</s>"
    assert prompt(source, tokens={**tokens, "add_bos": True, "add_eos": True}).text == "Why?"


@pytest.mark.behaviour("P2")
def test_a_marker_that_a_user_quotes_opens_nothing():
    for name in ("Qwen-Qwen3-0.6B", "google-gemma-4-31B-it", "CohereForAI-c4ai-command-r7b-12-2024-tool_use"):
        source = template(name)
        posture = posture_of(source)
        opener = posture.reasoning.opener
        assert prompt(source, Message("user", f"What is {opener}"), posture=posture).block is BlockState.UNOPENED


def test_a_template_that_always_adds_the_prompt_is_read_after_the_last_message():
    source = "{% for m in messages %}<|user|>{{ m.content }}{% endfor %}<|end|><|bot|><think>"
    rendered = prompt(source, posture=posture_named("deepseek-r1"))
    assert rendered.added == "<|end|><|bot|><think>"
    assert rendered.block is BlockState.OPEN


def test_a_template_that_opens_the_block_with_the_result_of_a_tool_is_read_so():
    source = template("deepseek-ai-DeepSeek-V3.2")
    messages = (QUESTION, Message("assistant", "", tool_calls=(ToolCall("f", "{}", "1"),)), Message("tool", "x"))
    rendered = prompt(source, *messages, posture=posture_of(source))
    assert rendered.text.endswith("<think>")
    assert rendered.block is BlockState.OPEN


def test_a_template_that_ends_differently_without_the_prompt_is_cut_between_markers():
    source = (
        "{% for m in messages %}{{ m.content }}{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|><think>{% else %}<|endoftext|>{% endif %}"
    )
    assert prompt(source, posture=posture_named("deepseek-r1")).added == "<|assistant|><think>"


def test_a_template_that_fails_without_the_prompt_is_read_after_the_last_message():
    source = (
        "{% for m in messages %}{{ m.content }}{% endfor %}"
        "{% if add_generation_prompt %}[<think>]{% else %}{{ raise_exception('never') }}{% endif %}"
    )
    assert prompt(source, posture=posture_named("deepseek-r1")).added == "[<think>]"


def test_a_templates_refusal_is_passed_on_in_its_words():
    with pytest.raises(TemplateRefused, match=r"^only one question$"):
        prompt("{{ raise_exception('only one question') }}")


def test_a_template_that_breaks_says_so():
    with pytest.raises(TemplateFailed, match="undefined"):
        prompt("{{ nothing.at.all }}")


def test_dates_come_from_the_clock():
    renderer = Renderer(template("meta-llama-Llama-3.2-3B-Instruct"), Posture(), clock=lambda: datetime(2031, 5, 6))
    assert "06 May 2031" in renderer.render(ChatRequest((QUESTION,)), ChatSettings()).text


def test_a_template_that_never_ends_does_not_hold_up_the_start(monkeypatch):
    monkeypatch.setattr(probe, "SECONDS", 0.1)
    monkeypatch.setattr(bounds.Budget.__init__, "__kwdefaults__", {"seconds": 0.3, "characters": bounds.CHARACTERS})
    endless = "{% for a in range(99999) %}{% for b in range(50) %}{% endfor %}{% endfor %}{{ messages[0].content }}"
    renderer = Renderer(endless, Posture())
    begun = time.monotonic()
    assert renderer.capabilities is not None
    assert time.monotonic() - begun < 3


def test_a_long_conversation_is_rendered_in_a_moment():
    source = template("Qwen-Qwen3-0.6B")
    renderer = Renderer(source, posture_of(source))
    turns = [Message("user" if i % 2 == 0 else "assistant", f"message {i} " * 50) for i in range(1001)]
    request = ChatRequest(tuple(turns))
    renderer.render(ChatRequest((QUESTION,)), ChatSettings())
    begun = time.monotonic()
    assert renderer.render(request, ChatSettings()).text.count("<|im_start|>") == 1002
    assert time.monotonic() - begun < 5
