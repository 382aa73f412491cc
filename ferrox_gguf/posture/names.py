"""The model's name as evidence: the last resort, for files that have lost everything else.

Ordered patterns over a name in lower case with every separator written `-`; the first match wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ferrox_gguf.posture.known import FAMILIES, Family

_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), family)
    for pattern, family in (
        (r"gpt-oss", "gpt-oss"),
        (r"muse-glimmer", "muse-glimmer"),
        (r"kimi-k3", "kimi-k3"),
        (r"kimi-k2.*thinking", "kimi-k2-thinking"),
        (r"kimi-k2", "kimi-k2"),
        (r"minimax-m3", "minimax-m3"),
        (r"minimax-m2", "minimax-m2"),
        (r"minimax-m1", "minimax-m1"),
        # A distilled model answers like its teacher, whatever its own family does: before qwen and llama.
        (r"deepseek-r1", "deepseek-r1"),
        (r"deepseek-v4", "deepseek-v4"),
        (r"deepseek-v3-2", "deepseek-v3.2"),
        (r"deepseek-v3-1", "deepseek-v3.1"),
        (r"gemma-4", "gemma-4"),
        (r"gemma", "gemma"),
        (r"mimo-v2", "qwen3.5"),
        (r"mimo", "qwen3"),
        (r"qwq", "qwen3"),
        (r"qwen-?3-5|step-?3-5|nemotron-3", "qwen3.5"),
        (r"qwen-?3-coder", "qwen3-coder"),
        (r"qwen-?3.*instruct-2507", "hermes"),
        (r"qwen-?3", "qwen3"),
        (r"qwen-?2", "hermes"),
        (r"glm-(4-[5-9]|5)", "glm-4.5"),
        (r"spark-?2-5", "spark-2.5"),
        (r"laguna", "laguna"),
        (r"ling-3", "ling-3"),
        (r"magistral.*2506", "magistral-2506"),
        (r"magistral|ministral-3.*reasoning", "magistral"),
        (r"devstral|ministral-3|mistral-small-3-2|mistral-large-3", "mistral-v11"),
        (r"mistral|mixtral", "mistral"),
        (r"command-r7b", "command-r7b"),
        (r"command-r", "command-r-plus"),
        (r"granite-3", "granite-3.3"),
        (r"granite", "hermes"),
        (r"functionary.*v3-2", "functionary-v3.2"),
        (r"functionary.*v3-1", "functionary-v3.1"),
        (r"firefunction", "firefunction-v2"),
        (r"phi-4.*reasoning", "phi-4-reasoning"),
        (r"phi-4-mini", "firefunction-v2"),
        (r"phi", "phi"),
        (r"lfm2-5.*(thinking|a1b)", "lfm2.5"),
        (r"lfm2", "lfm2"),
        (r"nemotron-nano.*v2|nemotron-nano-(9b|12b)", "nemotron-nano-v2"),
        (r"apertus", "apertus"),
        (r"seed-oss", "seed-oss"),
        (r"apriel.*1-6", "apriel-1.6"),
        (r"apriel", "apriel-1.5"),
        (r"solar-open", "solar-open"),
        (r"hunyuan-a13b", "hunyuan-a13b"),
        (r"(hunyuan|hy)-?3", "hunyuan-3"),
        (r"gigachat-?3-1", "gigachat-3.1"),
        (r"gigachat-?3", "gigachat-3"),
        (r"minicpm-?5", "minicpm5"),
        (r"smollm-?3|exaone-4|reka-edge|bielik.*v3", "qwen3"),
        (r"hermes|smollm", "hermes"),
        (r"llama-?3", "llama-3"),
    )
)


def family_of(names: Iterable[str]) -> tuple[Family, str] | None:
    """The family that the first telling name belongs to, and that name."""
    for name in names:
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower())
        for pattern, family in _PATTERNS:
            if pattern.search(plain):
                return FAMILIES[family], name
    return None
