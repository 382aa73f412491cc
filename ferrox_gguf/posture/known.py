"""The formats and families that are known by name: a table, no decisions.

Rows of `REASONING` are wire-formats section 1, rows of `FAMILIES` section 3. `signatures.py`, `architecture.py` and
`names.py` point into `FAMILIES`; `output/` has a machine for every format named here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from ferrox_gguf.posture.values import ReasoningFormat, ReasoningStyle

_QWEN3 = ReasoningFormat("qwen3", opener="<think>", closer="</think>")
_MINIMAX = replace(_QWEN3, name="minimax", always_open=True)
_DEEPSEEK_V32 = replace(_QWEN3, name="deepseekv32", always_open=True)
_MINIMAX_M3 = ReasoningFormat("minimax_m3", opener="<mm:think>", closer="</mm:think>", bare_closer=True)
_GEMMA4 = ReasoningFormat("gemma4", opener="<|channel>thought\n", closer="<channel|>", repeats=True)
_GPT_OSS = ReasoningFormat("gpt_oss", style=ReasoningStyle.HARMONY)
_MUSE_GLIMMER = ReasoningFormat("muse_glimmer", style=ReasoningStyle.ATEM)
_MISTRAL = ReasoningFormat("mistral", opener="[THINK]", closer="[/THINK]")
_SEED_OSS = ReasoningFormat("seed_oss", opener="<seed:think>", closer="</seed:think>")
_COHERE = ReasoningFormat(
    "cohere",
    opener="<|START_THINKING|>",
    closer="<|END_THINKING|>",
    wrapper=("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    ends_at=("<|START_RESPONSE|>",),
)
# Cohere2 MoE writes the same answer in other words; both go by the one name that a person can type.
_COHERE2 = replace(_COHERE, wrapper=("<|START_TEXT|>", "<|END_TEXT|>"), ends_at=("<|START_TEXT|>",))
_APERTUS = ReasoningFormat("apertus", opener="<|inner_prefix|>", closer="<|inner_suffix|>")
_APRIEL = ReasoningFormat("apriel", style=ReasoningStyle.DELIMITER, closer="[BEGIN FINAL RESPONSE]", always_open=True)
_GRANITE = replace(_QWEN3, name="granite", wrapper=("<response>", "</response>"))
_HUNYUAN_A13B = ReasoningFormat(
    "hunyuan_a13b", opener="<think>\n", closer="\n</think>\n", wrapper=("<answer>\n", "\n</answer>")
)
_HUNYUAN_V3 = ReasoningFormat("hunyuan_v3", opener="<think:opensource>", closer="</think:opensource>")
_KIMI_K3 = ReasoningFormat(
    "kimi_k3",
    opener="<|open|>think<|sep|>",
    closer="<|close|>think<|sep|>",
    wrapper=("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
    ends_at=("<|open|>response<|sep|>",),
    tail=("<|close|>message<|sep|>", "<|end_of_msg|>"),
)
_SOLAR_OPEN = ReasoningFormat(
    "solar_open", opener="<|think|>", closer="<|end|>", wrapper=("<|content|>", "<|end|>"), header="<|begin|>assistant"
)

REASONING: Mapping[str, ReasoningFormat] = MappingProxyType(
    {
        row.name: row
        for row in (
            _QWEN3,
            _MINIMAX,
            _DEEPSEEK_V32,
            _MINIMAX_M3,
            _GEMMA4,
            _GPT_OSS,
            _MUSE_GLIMMER,
            _MISTRAL,
            _SEED_OSS,
            _COHERE,
            _APERTUS,
            _APRIEL,
            _GRANITE,
            _HUNYUAN_A13B,
            _HUNYUAN_V3,
            _KIMI_K3,
            _SOLAR_OPEN,
        )
    }
)

HERMES = "qwen25"
"""The form `<tool_call>{…}</tool_call>`, tried after every native one."""


@dataclass(frozen=True, slots=True)
class Family:
    """Models that speak alike. Fields as in Posture."""

    name: str
    tool_format: str | None = None
    reasoning: ReasoningFormat | None = None
    calls_interrupt: bool = False
    string_stops: tuple[str, ...] = ()


_ROWS = (
    Family("gpt-oss", "gpt_oss", _GPT_OSS),
    Family("muse-glimmer", "muse_glimmer", _MUSE_GLIMMER),
    Family("kimi-k3", "kimi_k3", _KIMI_K3, calls_interrupt=True),
    Family("minimax-m3", "minimax_m3", _MINIMAX_M3, calls_interrupt=True),
    Family("minimax-m2", "minimax", _MINIMAX),
    Family("minimax-m1", "minimax_m1", _QWEN3),
    Family("deepseek-v3.2", "deepseekv32", _DEEPSEEK_V32, calls_interrupt=True),
    Family("deepseek-v4", "deepseekv32", _DEEPSEEK_V32, calls_interrupt=True),
    Family("deepseek-v3.1", "deepseek_v31", _QWEN3),
    Family("deepseek-r1", "deepseek_r1", _QWEN3),
    Family("gemma-4", "gemma4", _GEMMA4),
    Family("gemma"),
    Family("functionary-v3.2", "functionary_v32"),
    Family("functionary-v3.1", "functionary_v31"),
    Family("kimi-k2-thinking", "kimi_k2", _QWEN3, calls_interrupt=True),
    Family("kimi-k2", "kimi_k2"),
    Family("cohere2-moe", "cohere", _COHERE2, calls_interrupt=True),
    Family("command-r7b", "cohere", _COHERE, calls_interrupt=True),
    Family("command-r-plus", "command_r_plus"),
    Family("lfm2.5", "lfm2", _QWEN3),
    Family("lfm2", "lfm2"),
    Family("gigachat-3.1", "gigachat31"),
    Family("gigachat-3", "gigachat3"),
    Family("solar-open", "solar_open", _SOLAR_OPEN),
    Family("hunyuan-3", "hunyuan_v3", _HUNYUAN_V3),
    Family("hunyuan-a13b", "apriel", _HUNYUAN_A13B),
    Family("apertus", "apertus", _APERTUS),
    Family("seed-oss", "seed_oss", _SEED_OSS),
    Family("nemotron-nano-v2", "nemotron_v2", _QWEN3),
    Family("minicpm5", "minicpm5", _QWEN3),
    Family("minicpm5-instruct", "minicpm5"),
    Family("qwen3.5", "qwen3_coder", _QWEN3, calls_interrupt=True),
    Family("qwen3-coder", "qwen3_coder"),
    Family("ling-3", "glm47", _QWEN3, calls_interrupt=True, string_stops=("<|role_end|>",)),
    Family("laguna", "glm47", _QWEN3, string_stops=("</assistant>",)),
    Family("spark-2.5", "glm47", _QWEN3),
    Family("glm-4.5", "glm47", _QWEN3),
    Family("glm-4.5-instruct", "glm47"),
    Family("magistral", "mistral_v11", _MISTRAL),
    Family("mistral-v11", "mistral_v11"),
    Family("magistral-2506", "mistral", _QWEN3),
    Family("mistral", "mistral"),
    Family("firefunction-v2", "firefunction"),
    Family("granite-3.3", "granite33", _GRANITE),
    Family("apriel-1.6", "apriel", _APRIEL),
    Family("apriel-1.5", "apriel"),
    Family("qwen3", HERMES, _QWEN3),
    Family("hermes", HERMES),
    Family("llama-3", "llama3"),
    Family("llama-3-thinking", "llama3", _QWEN3),
    Family("phi"),
    Family("phi-4-reasoning", None, _QWEN3),
    Family("thinking", None, _QWEN3),
)

FAMILIES: Mapping[str, Family] = MappingProxyType({row.name: row for row in _ROWS})

TOOL_FORMATS: frozenset[str] = frozenset(row.tool_format for row in _ROWS if row.tool_format)
