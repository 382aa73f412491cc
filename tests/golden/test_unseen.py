"""The specification's cases again, for templates taken as if nobody had ever seen them.

No signature, no vocabulary, no architecture and no name: thoughts and calls are read by the markers that comparing the
template's renderings found. (Families with a grammar of their own, or whose template shows no past call, are not here:
that is what the table of signatures is for.)
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest
from support.templates import templates

from ferrox_gguf.cli.cases import Cut, parsed, start_state
from ferrox_gguf.output.pieces import End
from ferrox_gguf.posture import PostureInputs, resolve
from ferrox_gguf.wire.messages import parse_tools


def _conformance() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conformance", Path(__file__).parent / "test_conformance.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CONFORMANCE = _conformance()
TEMPLATES = (
    "Apertus-8B-Instruct",
    "Apriel-1.6-15b-Thinker-fixed",
    "ByteDance-Seed-OSS",
    "Cohere2MoE",
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use",
    "GLM-4.6",
    "GLM-4.7-Flash",
    "GigaChat3-10B-A1.8B",
    "GigaChat3.1-10B-A1.8B",
    "HuggingFaceTB-SmolLM3-3B",
    "MiniMax-M2",
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "NVIDIA-Nemotron-Nano-v2",
    "Qwen-QwQ-32B",
    "Qwen-Qwen2.5-7B-Instruct",
    "Qwen-Qwen3-0.6B",
    "Qwen3-Coder",
    "Reka-Edge",
    "Spark2.5",
    "StepFun3.5-Flash",
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B",
    "deepseek-ai-DeepSeek-V3.1",
    "fireworks-ai-llama-3-firefunction-v2",
    "llama-cpp-deepseek-r1",
    "meetkai-functionary-medium-v3.1",
    "meta-llama-Llama-3.1-8B-Instruct",
    "mistralai-Ministral-3-14B-Reasoning-2512",
    "mistralai-Mistral-Nemo-Instruct-2407",
    "poolside-Laguna-S-2.1",
    "poolside-Laguna-XS-2.1",
    "tencent-Hy3",
    "unsloth-Apriel-1.5",
    "unsloth-mistral-Devstral-Small-2507",
)
CASES = [case for case in CONFORMANCE.CASES if (case["template"] or "").removesuffix(".jinja") in TEMPLATES]


@pytest.mark.parametrize("cut", ["whole", "char"])
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_an_output_is_read_by_the_markers_that_renderings_show(case: dict, cut: str) -> None:
    source = templates()[case["template"].removesuffix(".jinja")]
    posture = _posture(source)
    result = parsed(
        case["raw"],
        posture,
        start_state(posture, case["reasoning_open"], None, source),
        tools=parse_tools(case["tools"]),
        end=End.CUT if case.get("finish") == "length" else End.DONE,
        cut=Cut(cut),
        complete=case.get("mode") == "complete",
    )
    expected, unchecked = case["expected"], case.get("unchecked", ())
    for part in ("reasoning", "content"):
        if part not in unchecked:
            assert (result[part] or "").strip() == (expected[part] or "").strip(), part
    calls = [(call["name"], call["arguments"]) for call in result["tool_calls"]]
    assert [name for name, _ in calls] == [call["name"] for call in expected["tool_calls"]]
    for (_, arguments), wanted in zip(calls, expected["tool_calls"], strict=True):
        if isinstance(wanted["arguments"], str):
            assert arguments == wanted["arguments"]
        else:
            assert CONFORMANCE.same(json.loads(arguments), wanted["arguments"])


_POSTURES: dict = {}


def _posture(source: str):
    if source not in _POSTURES:
        _POSTURES[source] = resolve(PostureInputs(), source, signatures=())
    return _POSTURES[source]
