"""Every template that llama.cpp ships is recognised as what it is (wire-formats, sections 2.3 and 3)."""

from __future__ import annotations

import pytest
from support.templates import templates

from ferrox_gguf.output.forms import native_syntax
from ferrox_gguf.posture import PostureInputs, resolve
from ferrox_gguf.posture.known import FAMILIES, REASONING, TOOL_FORMATS
from ferrox_gguf.posture.signatures import SIGNATURES
from ferrox_gguf.posture.values import Posture, ReasoningProtocol

GENERATED, OPENED, NONE = (
    ReasoningProtocol.MODEL_GENERATED,
    ReasoningProtocol.PROMPT_OPENED,
    ReasoningProtocol.NONE,
)

# template: family, reasoning format, tool format, protocol with thinking on (appendix A)
TABLE = {
    "Apertus-8B-Instruct": ("apertus", "apertus", "apertus", GENERATED),
    "Apriel-1.6-15b-Thinker-fixed": ("apriel-1.6", "apriel", "apriel", OPENED),
    "Bielik-11B-v3.0-Instruct": ("qwen3", "qwen3", "qwen25", OPENED),
    "ByteDance-Seed-OSS": ("seed-oss", "seed_oss", "seed_oss", GENERATED),
    "Cohere2MoE": ("cohere2-moe", "cohere", "cohere", OPENED),
    "CohereForAI-c4ai-command-r-plus-tool_use": ("command-r-plus", None, "command_r_plus", NONE),
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": ("command-r7b", "cohere", "cohere", GENERATED),
    "GLM-4.6": ("glm-4.5", "qwen3", "glm47", GENERATED),
    "GLM-4.7-Flash": ("glm-4.5", "qwen3", "glm47", OPENED),
    "GigaChat3-10B-A1.8B": ("gigachat-3", None, "gigachat3", NONE),
    "GigaChat3.1-10B-A1.8B": ("gigachat-3.1", None, "gigachat31", NONE),
    "HuggingFaceTB-SmolLM3-3B": ("unknown", "qwen3", None, GENERATED),
    "Kimi-K2-Instruct": ("kimi-k2", None, "kimi_k2", NONE),
    "Kimi-K2-Thinking": ("kimi-k2-thinking", "qwen3", "kimi_k2", GENERATED),
    "Kimi-K3": ("kimi-k3", "kimi_k3", "kimi_k3", OPENED),
    "LFM2-8B-A1B": ("lfm2", None, "lfm2", NONE),
    "LFM2.5-8B-A1B": ("lfm2.5", "qwen3", "lfm2", GENERATED),
    "LFM2.5-Instruct": ("lfm2", None, "lfm2", NONE),
    "MiMo-VL": ("hermes", None, "qwen25", NONE),
    "MiniMax-M1": ("minimax-m1", "qwen3", "minimax_m1", GENERATED),
    "MiniMax-M2": ("minimax-m2", "minimax", "minimax", OPENED),
    "MiniMax-M3": ("minimax-m3", "minimax_m3", "minimax_m3", GENERATED),
    "Mistral-Small-3.2-24B-Instruct-2506": ("mistral-v11", None, "mistral_v11", NONE),
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": ("qwen3.5", "qwen3", "qwen3_coder", OPENED),
    "NVIDIA-Nemotron-Nano-v2": ("nemotron-nano-v2", "qwen3", "nemotron_v2", OPENED),
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": ("hermes", None, "qwen25", NONE),
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": ("hermes", None, "qwen25", NONE),
    "Qwen-QwQ-32B": ("qwen3", "qwen3", "qwen25", OPENED),
    "Qwen-Qwen2.5-7B-Instruct": ("hermes", None, "qwen25", NONE),
    "Qwen-Qwen3-0.6B": ("qwen3", "qwen3", "qwen25", GENERATED),
    "Qwen3-Coder": ("qwen3-coder", None, "qwen3_coder", NONE),
    "Qwen3.5-4B": ("qwen3.5", "qwen3", "qwen3_coder", OPENED),
    "Reka-Edge": ("qwen3", "qwen3", "qwen25", OPENED),
    "Spark2.5": ("spark-2.5", "qwen3", "glm47", OPENED),
    "StepFun3.5-Flash": ("qwen3.5", "qwen3", "qwen3_coder", OPENED),
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B": ("deepseek-r1", "qwen3", "deepseek_r1", OPENED),
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": ("deepseek-r1", "qwen3", "deepseek_r1", OPENED),
    "deepseek-ai-DeepSeek-V3.1": ("deepseek-v3.1", "qwen3", "deepseek_v31", OPENED),
    "deepseek-ai-DeepSeek-V3.2": ("deepseek-v3.2", "deepseekv32", "deepseekv32", OPENED),
    "deepseek-ai-DeepSeek-V4": ("deepseek-v4", "deepseekv32", "deepseekv32", OPENED),
    "deepseek-ai-DeepSeek-V4-Flash-0731": ("deepseek-v4", "deepseekv32", "deepseekv32", OPENED),
    "fireworks-ai-llama-3-firefunction-v2": ("firefunction-v2", None, "firefunction", NONE),
    "google-gemma-2-2b-it": ("unknown", None, None, NONE),
    "google-gemma-4-31B-it": ("gemma-4", "gemma4", "gemma4", GENERATED),
    "google-gemma-4-31B-it-interleaved": ("gemma-4", "gemma4", "gemma4", GENERATED),
    "ibm-granite-granite-3.3-2B-Instruct": ("granite-3.3", "granite", "granite33", GENERATED),
    "ibm-granite-granite-4.0": ("hermes", None, "qwen25", NONE),
    "ibm-granite-granite-4.1": ("hermes", None, "qwen25", NONE),
    "inclusionai-ling-3.0-flash": ("ling-3", "qwen3", "glm47", OPENED),
    "llama-cpp-deepseek-r1": ("deepseek-r1", "qwen3", "deepseek_r1", OPENED),
    "llama-cpp-rwkv-world": ("unknown", "qwen3", None, OPENED),
    "meetkai-functionary-medium-v3.1": ("functionary-v3.1", None, "functionary_v31", NONE),
    "meetkai-functionary-medium-v3.2": ("functionary-v3.2", None, "functionary_v32", NONE),
    "meta-llama-Llama-3.1-8B-Instruct": ("llama-3", None, "llama3", NONE),
    "meta-llama-Llama-3.2-3B-Instruct": ("llama-3", None, "llama3", NONE),
    "meta-llama-Llama-3.3-70B-Instruct": ("llama-3", None, "llama3", NONE),
    "microsoft-Phi-3.5-mini-instruct": ("unknown", None, None, NONE),
    "mistralai-Ministral-3-14B-Reasoning-2512": ("magistral", "mistral", "mistral_v11", GENERATED),
    "mistralai-Mistral-Nemo-Instruct-2407": ("mistral", None, "mistral", NONE),
    "moonshotai-Kimi-K2": ("kimi-k2", None, "kimi_k2", NONE),
    "muse-glimmer": ("muse-glimmer", "muse_glimmer", "muse_glimmer", GENERATED),
    "openai-gpt-oss-120b": ("gpt-oss", "gpt_oss", "gpt_oss", GENERATED),
    "openbmb-MiniCPM5-1B": ("minicpm5", "qwen3", "minicpm5", OPENED),
    "poolside-Laguna-S-2.1": ("laguna", "qwen3", "glm47", OPENED),
    "poolside-Laguna-XS-2.1": ("laguna", "qwen3", "glm47", OPENED),
    "poolside-Laguna-XS.2": ("laguna", "qwen3", "glm47", OPENED),
    "tencent-Hy3": ("hunyuan-3", "hunyuan_v3", "hunyuan_v3", GENERATED),
    "unsloth-Apriel-1.5": ("apriel-1.5", None, "apriel", NONE),
    "unsloth-mistral-Devstral-Small-2507": ("mistral-v11", None, "mistral_v11", NONE),
    "upstage-Solar-Open-100B": ("solar-open", "solar_open", "solar_open", GENERATED),
}


def test_no_template_is_left_out_of_the_table() -> None:
    assert set(TABLE) == set(templates())


@pytest.mark.parametrize("name", TABLE)
def test_a_template_alone_resolves_to_its_family(name: str) -> None:
    posture = resolve(PostureInputs(), templates()[name])
    found = (posture.family, posture.reasoning and posture.reasoning.name, posture.tool_format, posture.protocol)
    assert found == TABLE[name]
    assert posture.evidence


def test_calls_inside_an_open_thought_count_only_in_the_families_that_make_them() -> None:
    interrupting = {name for name, source in templates().items() if resolve(PostureInputs(), source).calls_interrupt}
    assert interrupting == {
        "Cohere2MoE",
        "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
        "Kimi-K2-Thinking",
        "Kimi-K3",
        "MiniMax-M3",
        "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
        "Qwen3.5-4B",
        "StepFun3.5-Flash",
        "deepseek-ai-DeepSeek-V3.2",
        "deepseek-ai-DeepSeek-V4",
        "deepseek-ai-DeepSeek-V4-Flash-0731",
        "inclusionai-ling-3.0-flash",
    }


def test_end_markers_that_models_spell_out_are_string_stops() -> None:
    assert resolve(PostureInputs(), templates()["poolside-Laguna-XS-2.1"]).string_stops == ("</assistant>",)
    assert resolve(PostureInputs(), templates()["inclusionai-ling-3.0-flash"]).string_stops == ("<|role_end|>",)
    assert resolve(PostureInputs(), templates()["Qwen-Qwen3-0.6B"]).string_stops == ()


def test_the_answers_wrapper_is_the_templates_own() -> None:
    wrappers = {
        name: resolve(PostureInputs(), templates()[name]).reasoning.wrapper  # type: ignore[union-attr]
        for name in ("Cohere2MoE", "CohereForAI-c4ai-command-r7b-12-2024-tool_use")
    }
    assert wrappers == {
        "Cohere2MoE": ("<|START_TEXT|>", "<|END_TEXT|>"),
        "CohereForAI-c4ai-command-r7b-12-2024-tool_use": ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    }


def test_every_signature_points_into_the_table_of_families() -> None:
    assert {signature.family for signature in SIGNATURES} <= set(FAMILIES)
    assert {row.reasoning.name for row in FAMILIES.values() if row.reasoning} <= set(REASONING)


def test_every_tool_format_is_one_that_output_can_read() -> None:
    unread = {name for name in TOOL_FORMATS if native_syntax(Posture(tool_format=name)) is None}
    assert unread == set()
