"""Names that people type for a format: ours, "none", and the ones that vLLM and SGLang use for the same thing."""

from __future__ import annotations

from collections.abc import Iterable

from ferrox_gguf.errors import StartupError
from ferrox_gguf.posture.known import HERMES, REASONING, TOOL_FORMATS
from ferrox_gguf.posture.values import ReasoningFormat

NONE = "none"

_REASONING_ALIASES = {
    "think": "qwen3",
    "deepseek_r1": "qwen3",
    "deepseek_v3": "qwen3",
    "glm45": "qwen3",
    "nemotron_v3": "qwen3",
    "step3p5": "qwen3",
    "deepseek_v32": "deepseekv32",
    "minimax_m2": "minimax",
    "gptoss": "gpt_oss",
    "openai_gptoss": "gpt_oss",
    "gemma": "gemma4",
}

_TOOL_ALIASES = {
    "hermes": HERMES,
    "qwen3_xml": "qwen3_coder",
    "glm45": "glm47",
    "deepseek_v3": "deepseek_r1",
    "deepseek_v32": "deepseekv32",
    "minimax_m2": "minimax",
    "llama3_json": "llama3",
    "granite": "granite33",
    "hunyuan_a13b": "apriel",
    "gptoss": "gpt_oss",
    "openai": "gpt_oss",
    "gemma": "gemma4",
}


def reasoning_named(name: str) -> ReasoningFormat | None:
    """None for "none". Raises StartupError, listing the names, for one that does not exist."""
    word = _plain(name)
    if word == NONE:
        return None
    found = REASONING.get(word) or REASONING.get(_REASONING_ALIASES.get(word, ""))
    if found is None:
        raise _unknown("reasoning format", name, REASONING)
    return found


def tool_format_named(name: str) -> str | None:
    """As reasoning_named, for tool calls."""
    word = _plain(name)
    if word == NONE:
        return None
    word = _TOOL_ALIASES.get(word, word)
    if word not in TOOL_FORMATS:
        raise _unknown("tool format", name, TOOL_FORMATS)
    return word


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_")


def _unknown(what: str, name: str, known: Iterable[str]) -> StartupError:
    return StartupError(f"there is no {what} {name!r}; there are: {', '.join(sorted(known))}, {NONE}")
