"""What a template does about thinking, and how a rendered prompt leaves the block."""

from __future__ import annotations

import pytest
from support.templates import templates

from ferrox_gguf.jinja import compile_template
from ferrox_gguf.posture import PostureInputs, resolve
from ferrox_gguf.posture.known import REASONING
from ferrox_gguf.posture.open_block import block_state, last_turn
from ferrox_gguf.posture.protocol import turn_header
from ferrox_gguf.posture.values import BlockState, ReasoningProtocol

OPEN, CLOSED, UNOPENED = BlockState.OPEN, BlockState.CLOSED, BlockState.UNOPENED


def protocol(source: str | None, inputs: PostureInputs | None = None) -> ReasoningProtocol:
    return resolve(inputs or PostureInputs(), source).protocol


@pytest.mark.behaviour("P1")
def test_the_protocol_is_one_of_four_and_unknown_is_not_none() -> None:
    assert protocol(None) is ReasoningProtocol.UNKNOWN
    assert protocol(templates()["Qwen-Qwen2.5-7B-Instruct"]) is ReasoningProtocol.NONE
    assert protocol(templates()["MiniMax-M2"]) is ReasoningProtocol.PROMPT_OPENED
    assert protocol(templates()["Qwen-Qwen3-0.6B"]) is ReasoningProtocol.MODEL_GENERATED
    assert [state.value for state in ReasoningProtocol] == ["unknown", "none", "prompt_opened", "model_generated"]


@pytest.mark.behaviour("P1")
def test_only_the_last_two_support_reasoning() -> None:
    for source in (None, *templates().values()):
        posture = resolve(PostureInputs(), source)
        thinks = posture.protocol in (ReasoningProtocol.PROMPT_OPENED, ReasoningProtocol.MODEL_GENERATED)
        assert thinks is (posture.reasoning is not None)


def test_a_thinking_model_whose_template_refuses_to_render_is_unknown() -> None:
    refusing = "{{ raise_exception('never') }} <tool_call> <think>"
    posture = resolve(PostureInputs(), refusing)
    assert posture.reasoning is not None
    assert posture.protocol is ReasoningProtocol.UNKNOWN


def test_without_a_template_the_family_says_how_it_begins() -> None:
    assert protocol(None, PostureInputs(architecture="minimax-m2")) is ReasoningProtocol.PROMPT_OPENED
    assert protocol(None, PostureInputs(architecture="seed_oss")) is ReasoningProtocol.MODEL_GENERATED


@pytest.mark.behaviour("P2")
@pytest.mark.parametrize(
    ("name", "added", "state"),
    [
        ("qwen3", "assistant:<think>\n", OPEN),
        ("qwen3", "assistant:<think>reason</think>\n", CLOSED),
        ("qwen3", "assistant:", UNOPENED),
        ("qwen3", "assistant:</think>", CLOSED),
        ("qwen3", "assistant:<think>a</think>b<think>", OPEN),
        ("minimax_m3", "ai\n</mm:think>", CLOSED),
        ("gemma4", "<|turn>model\n<|channel>thought\n<channel|>", CLOSED),
        ("gemma4", "<|turn>model\n<|channel>thought\n", OPEN),
        ("kimi_k3", "<|open|>think<|sep|>", OPEN),
        ("kimi_k3", "<|open|>response<|sep|>", CLOSED),
        ("apriel", "Here are my reasoning steps:\n", OPEN),
        ("gpt_oss", "<|start|>assistant", UNOPENED),
        ("muse_glimmer", "<|start|>assistant", OPEN),
    ],
)
def test_the_block_is_open_when_the_last_opener_stands_after_the_last_closer(
    name: str, added: str, state: BlockState
) -> None:
    assert block_state(added, REASONING[name]) is state


@pytest.mark.behaviour("P2")
def test_a_marker_that_a_user_quotes_to_gemma_opens_nothing() -> None:
    prompt = "<bos><|turn>user\nWhat is <|channel>thought\n ?<turn|>\n<|turn>model\n"
    source = templates()["google-gemma-4-31B-it"]
    header = turn_header(compile_template(source), REASONING["gemma4"])
    assert header == "<|turn>model"
    assert block_state(last_turn(prompt, header), REASONING["gemma4"]) is UNOPENED
    assert block_state(last_turn(prompt + "<|channel>thought\n", header), REASONING["gemma4"]) is OPEN


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("Qwen3.5-4B", "<|im_start|>assistant"),
        ("deepseek-ai-DeepSeek-V3.1", "<｜Assistant｜>"),
        ("openbmb-MiniCPM5-1B", "<|im_start|>assistant"),
        ("MiniMax-M2", "ai"),
        ("inclusionai-ling-3.0-flash", "</role>"),
    ],
)
def test_the_header_of_a_turn_is_what_the_template_writes_before_an_answer(name: str, header: str) -> None:
    posture = resolve(PostureInputs(), templates()[name])
    assert posture.reasoning is not None
    found = turn_header(compile_template(templates()[name]), posture.reasoning)
    assert found.endswith(header)
    assert "think" not in found


def test_a_model_without_a_format_never_has_an_open_block() -> None:
    assert block_state("assistant:<think>\n", None) is UNOPENED
