"""`general.architecture` as evidence: only where all models of an architecture speak alike (wire-formats 2.4).

`llama`, `qwen2`, `deepseek2` and `glm4moe` are shared by families that do not, and say nothing.
"""

from __future__ import annotations

from ferrox_gguf.posture.known import FAMILIES, Family

_SINGLE_FORMAT = {
    "gpt-oss": "gpt-oss",
    "gemma4": "gemma-4",
    "gemma": "gemma",
    "gemma2": "gemma",
    "gemma3": "gemma",
    "gemma3n": "gemma",
    "muse-glimmer": "muse-glimmer",
    "kimi-k3": "kimi-k3",
    "minimax-01": "minimax-m1",
    "minimax-m2": "minimax-m2",
    "minimax-m3": "minimax-m3",
    "deepseek32": "deepseek-v3.2",
    "deepseek4": "deepseek-v4",
    "seed_oss": "seed-oss",
    "apertus": "apertus",
    "lfm2": "lfm2",
    "lfm2moe": "lfm2",
    "hy_v3": "hunyuan-3",
    "hunyuan-moe": "hunyuan-a13b",
    "cohere2moe": "cohere2-moe",
    "laguna": "laguna",
    "bailingmoe3": "ling-3",
    "step35": "qwen3.5",
    "qwen35": "qwen3.5",
    "qwen35moe": "qwen3.5",
    "nemotron_h_moe": "qwen3.5",
    "mimo2": "qwen3.5",
    "spark2_5": "spark-2.5",
    "exaone4": "qwen3",
    "smollm3": "qwen3",
}


def family_of(architecture: str | None) -> Family | None:
    """The one family of this architecture, or None where it has none or several."""
    name = _SINGLE_FORMAT.get(architecture or "")
    return FAMILIES[name] if name else None
