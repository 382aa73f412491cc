"""Marker tokens as evidence: they survive when a quantiser dropped the template.

A token that exists is weaker evidence than a template that uses it (Qwen3-Coder's vocabulary has `<think>`), so this is
asked only where the template says nothing.
"""

from __future__ import annotations

from collections.abc import Set

from ferrox_gguf.posture.known import FAMILIES, REASONING, Family
from ferrox_gguf.posture.values import ReasoningFormat

_FAMILY_TOKENS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("gpt-oss", ("<|channel|>", "<|message|>")),
    ("kimi-k3", ("<|open|>", "<|close|>", "<|end_of_msg|>")),
    ("minimax-m3", ("<mm:think>",)),
    ("minimax-m2", ("<minimax:tool_call>",)),
    ("gemma-4", ("<|channel>", "<|tool_call>")),
    ("kimi-k2-thinking", ("<|tool_calls_section_begin|>", "<think>")),
    ("kimi-k2", ("<|tool_calls_section_begin|>",)),
    ("cohere2-moe", ("<|START_ACTION|>", "<|START_TEXT|>")),
    ("command-r7b", ("<|START_ACTION|>", "<|START_RESPONSE|>")),
    ("lfm2.5", ("<|tool_call_start|>", "<think>")),
    ("lfm2", ("<|tool_call_start|>",)),
    ("gigachat-3.1", ("<|role_sep|>", "<|function_call|>")),
    ("solar-open", ("<|tool_call:begin|>",)),
    ("hunyuan-3", ("<think:opensource>",)),
    ("apertus", ("<|tools_prefix|>",)),
    ("seed-oss", ("<seed:tool_call>",)),
    ("nemotron-nano-v2", ("<TOOLCALL>",)),
    ("deepseek-r1", ("<｜tool▁calls▁begin｜>",)),
    ("magistral", ("[TOOL_CALLS]", "[ARGS]", "[THINK]")),
    ("mistral-v11", ("[TOOL_CALLS]", "[ARGS]")),
    ("mistral", ("[TOOL_CALLS]",)),
    ("granite-3.3", ("<|start_of_role|>", "<|tool_call|>")),
    ("glm-4.5", ("<tool_call>", "<arg_key>", "</think>")),
    ("glm-4.5-instruct", ("<tool_call>", "<arg_key>")),
    ("qwen3", ("<tool_call>", "<think>")),
    ("hermes", ("<tool_call>",)),
    ("llama-3", ("<|python_tag|>",)),
)


def family_of(markers: Set[str]) -> tuple[Family, tuple[str, ...]] | None:
    """The family whose tokens are all there, and those tokens."""
    for name, tokens in _FAMILY_TOKENS:
        if all(token in markers for token in tokens):
            return FAMILIES[name], tokens
    return None


def reasoning_of(markers: Set[str]) -> ReasoningFormat | None:
    """The reasoning format whose opener and closer are tokens of this vocabulary."""
    for row in REASONING.values():
        if row.opener in markers and row.closer in markers:
            return row
    return None
