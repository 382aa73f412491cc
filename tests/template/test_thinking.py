import pytest
from support.postures import posture_of
from support.templates import template

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.jinja import compile_template
from ferrox_gguf.posture.values import BlockState
from ferrox_gguf.request import ChatRequest, Message, Thinking
from ferrox_gguf.settings import ChatSettings, ReasoningSettings
from ferrox_gguf.template.render import Renderer
from ferrox_gguf.template.thinking import ThinkingChoice, ThinkingSwitches, decide

QUESTION = (Message("user", "Why?"),)


def choice(kwargs=None, thinking=None, flags=None, defaults=None):
    request = ChatRequest(QUESTION, template_kwargs=kwargs or {}, thinking=thinking or Thinking())
    return decide(request, ChatSettings(template_kwargs=defaults or {}, reasoning=flags or ReasoningSettings()))


def switches(name):
    template_ = compile_template(template(name))
    return ThinkingSwitches(template_, {"bos_token": "", "eos_token": ""}, enable_thinking=True)


def prompt(name, *, settings=None, **fields):
    source = template(name)
    return Renderer(source, posture_of(source)).render(ChatRequest(QUESTION, **fields), settings or ChatSettings())


ON, OFF = Thinking(enabled=True), Thinking(enabled=False)


def test_thinking_is_on_when_nobody_says_anything():
    assert choice().enabled is None
    assert choice().on


@pytest.mark.parametrize(
    ("layers", "enabled"),
    [
        ({"kwargs": {"enable_thinking": True}, "thinking": OFF}, True),
        ({"kwargs": {"thinking": False}, "thinking": ON}, False),
        ({"thinking": ON, "flags": ReasoningSettings(enabled=False)}, True),
        ({"thinking": Thinking(effort="none"), "flags": ReasoningSettings(enabled=True)}, False),
        ({"kwargs": {"reasoning_effort": "none"}, "thinking": ON}, False),
        ({"flags": ReasoningSettings(enabled=False), "defaults": {"enable_thinking": True}}, False),
        ({"defaults": {"enable_thinking": False}}, False),
        ({"thinking": Thinking(enabled=True, effort="none")}, True),
    ],
)
def test_the_request_comes_before_the_flags_and_its_keywords_before_its_fields(layers, enabled):
    assert choice(**layers).enabled is enabled


def test_the_effort_follows_the_same_order():
    flags = ReasoningSettings(effort="low")
    assert choice({"reasoning_effort": "max"}, Thinking(effort="high"), flags).effort == "max"
    assert choice(None, Thinking(effort="high"), flags).effort == "high"
    assert choice(None, None, flags).effort == "low"


@pytest.mark.parametrize("value", ["true", 1, [], {}])
def test_a_switch_that_is_not_a_boolean_is_refused_by_name(value):
    with pytest.raises(InvalidField, match="enable_thinking"):
        choice({"enable_thinking": value})


@pytest.mark.parametrize(
    ("name", "off", "on"),
    [
        ("deepseek-ai-DeepSeek-V3.1", {"thinking": False}, {"thinking": True}),
        ("MiniMax-M3", {"thinking_mode": "disabled"}, {"thinking_mode": "enabled"}),
        ("inclusionai-ling-3.0-flash", {"thinking_option": "off"}, {"thinking_option": "on"}),
        ("ByteDance-Seed-OSS", {"thinking_budget": 0}, {}),
        ("tencent-Hy3", {"reasoning_effort": "no_think"}, {"reasoning_effort": "high"}),
        ("Cohere2MoE", {"reasoning": False}, {"reasoning": True}),
        ("ibm-granite-granite-3.3-2B-Instruct", {"thinking": False}, {"thinking": True}),
        ("openai-gpt-oss-120b", {"reasoning_effort": "low"}, {}),
        ("muse-glimmer", {"reasoning_strength": "low"}, {}),
    ],
)
def test_a_template_is_told_by_the_name_it_reads(name, off, on):
    told = switches(name)
    assert off.items() <= told.variables(ThinkingChoice(enabled=False)).items()
    assert {**on, "enable_thinking": True}.items() <= told.variables(ThinkingChoice(enabled=True)).items()
    silent = told.variables(ThinkingChoice())
    assert silent["enable_thinking"] is True
    assert not off.keys() & silent.keys()


@pytest.mark.parametrize(
    ("name", "word", "told"),
    [
        ("openai-gpt-oss-120b", "minimal", {"reasoning_effort": "low"}),
        ("openai-gpt-oss-120b", "xhigh", {"reasoning_effort": "high"}),
        ("tencent-Hy3", "medium", {"reasoning_effort": "high"}),
        ("tencent-Hy3", "minimal", {"reasoning_effort": "low"}),
        ("Kimi-K3", "medium", {"thinking_effort": "high"}),
        ("Kimi-K3", "max", {"thinking_effort": "max"}),
        ("deepseek-ai-DeepSeek-V4", "max", {"reasoning_effort": "max"}),
        ("muse-glimmer", "low", {"reasoning_strength": "low"}),
        ("upstage-Solar-Open-100B", "minimal", {"reasoning_effort": "minimal"}),
        ("ByteDance-Seed-OSS", "low", {"thinking_budget": 1024}),
        ("openai-gpt-oss-120b", "a little", {"reasoning_effort": "a little"}),
    ],
)
def test_the_effort_is_the_clients_word_or_the_nearest_that_the_template_knows(name, word, told):
    assert told.items() <= switches(name).variables(ThinkingChoice(effort=word)).items()


def test_a_budget_is_told_to_the_template_that_counts():
    assert switches("ByteDance-Seed-OSS").variables(ThinkingChoice(budget=700))["thinking_budget"] == 700


def test_earlier_turns_keep_their_thoughts_unless_somebody_says_otherwise():
    told = switches("GLM-4.7-Flash")
    assert told.variables(ThinkingChoice())["clear_thinking"] is False
    assert told.variables(ThinkingChoice(keep=False))["clear_thinking"] is True
    assert choice({"preserve_reasoning": False}).keep is False
    assert choice(None, None, ReasoningSettings(preserve=False)).keep is False


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("Qwen-Qwen3-0.6B", "assistant\n<think>\n\n</think>\n\n"),
        ("NVIDIA-Nemotron-Nano-v2", "Assistant\n<think></think>"),
        ("MiniMax-M2", "<think>\n\n</think>\n\n"),
        ("deepseek-ai-DeepSeek-R1-Distill-Llama-8B", "<think>\n\n</think>\n\n"),
        ("Kimi-K2-Thinking", "<|im_middle|><think>\n\n</think>\n\n"),
        ("Apriel-1.6-15b-Thinker-fixed", "steps:\n[BEGIN FINAL RESPONSE]\n"),
        ("upstage-Solar-Open-100B", "<|begin|>assistant<|think|><|end|><|begin|>assistant"),
    ],
)
def test_off_closes_the_block_by_the_templates_switch_or_without_one(name, end):
    off = prompt(name, thinking=OFF)
    assert off.text.endswith(end)
    assert off.block is BlockState.CLOSED
    assert not off.thinking
    flag = ChatSettings(reasoning=ReasoningSettings(enabled=False))
    assert prompt(name, settings=flag).text == off.text


def test_a_block_is_only_closed_for_the_asking():
    assert prompt("MiniMax-M2").text.endswith("<think>\n")
    assert prompt("MiniMax-M2", thinking=ON).block is BlockState.OPEN


def test_the_switch_word_of_nemotron_goes_into_the_system_text_and_is_not_shown():
    source = template("NVIDIA-Nemotron-Nano-v2")
    renderer = Renderer(source, posture_of(source))
    for messages in (QUESTION, (Message("system", "Be brief."), *QUESTION)):
        text = renderer.render(ChatRequest(messages, thinking=OFF), ChatSettings()).text
        assert text.endswith("<think></think>")
        assert "no_think" not in text


def test_keywords_of_the_request_reach_the_template_last():
    effort = prompt("openai-gpt-oss-120b", template_kwargs={"reasoning_effort": "high", "model_identity": "I am Bo."})
    assert "Reasoning: high" in effort.text
    assert "I am Bo." in effort.text
    settings = ChatSettings(template_kwargs={"model_identity": "I am Al."})
    assert "I am Al." in prompt("openai-gpt-oss-120b", settings=settings).text


@pytest.mark.parametrize("name", ["messages", "tools", "add_generation_prompt"])
def test_a_keyword_cannot_take_the_place_of_a_field(name):
    with pytest.raises(InvalidField, match=name):
        prompt("openai-gpt-oss-120b", template_kwargs={name: True})


def test_a_template_that_refuses_the_switch_does_not_get_it():
    source = (
        "{% if enable_thinking is defined %}{{ raise_exception('no') }}{% endif %}"
        "{% for m in messages %}{{ m.content }}{% endfor %}"
    )
    renderer = Renderer(source, posture_of(source))
    assert renderer.render(ChatRequest(QUESTION), ChatSettings()).text == "Why?"
    assert not renderer.capabilities.enable_thinking
