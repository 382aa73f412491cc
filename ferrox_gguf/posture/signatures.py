"""Families recognised by plain substrings of a template's source (wire-formats 2.3): ordered, the first match wins.

Order matters: MiniMax M3's template also holds `<tool_call>`, several GLM-like ones do too, and a family's thinking
variant stands before the one that only lacks the marker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ferrox_gguf.posture.known import FAMILIES, Family


@dataclass(frozen=True, slots=True)
class Signature:
    """family: a name in FAMILIES.  every: all of these are in the source.  some: and one of these, where any are given.

    settles_reasoning: False where the family says nothing about thinking, so that later evidence may add it: many
    models share the template, some of them think.
    """

    family: str
    every: tuple[str, ...]
    some: tuple[str, ...] = ()
    settles_reasoning: bool = True

    def matches(self, source: str) -> bool:
        return all(text in source for text in self.every) and (
            not self.some or any(text in source for text in self.some)
        )

    @property
    def words(self) -> str:
        """What was looked for, for people."""
        parts = [f"`{text}`" for text in self.every]
        if self.some:
            parts.append(" or ".join(f"`{text}`" for text in self.some))
        return ", ".join(parts)


_TAGGED = ("<tool_call>", "<function=", "<parameter=")
_GLM = ("<tool_call>", "<arg_key>")
_DEEPSEEK_CALLS = "<｜tool▁calls▁begin｜>"

SIGNATURES: tuple[Signature, ...] = (
    Signature("gpt-oss", ("<|channel|>", "<|message|>")),
    Signature("muse-glimmer", ("<atem:function_calls>", "<|eom|>")),
    Signature("kimi-k3", ("<|open|>", "<|close|>", "<|end_of_msg|>")),
    Signature("minimax-m3", ("]<]minimax[>[", "<invoke name=")),
    Signature("minimax-m2", ("<minimax:tool_call>",)),
    Signature("deepseek-v3.2", ("function_calls",), ("dsml_token", "｜DSML｜")),
    Signature("deepseek-v4", (), ("dsml_token", "｜DSML｜")),
    Signature("gemma-4", ("<|tool_call>call:",)),
    Signature("functionary-v3.2", (">>>all",)),
    Signature("kimi-k2-thinking", ("<|tool_calls_section_begin|>", "<|tool_call_begin|>", "<think>")),
    Signature("kimi-k2", ("<|tool_calls_section_begin|>", "<|tool_call_begin|>")),
    Signature("cohere2-moe", ("<|START_ACTION|>", "<|START_TEXT|>")),
    Signature("command-r7b", ("<|START_ACTION|>", "<|START_RESPONSE|>")),
    Signature("command-r-plus", ("<|CHATBOT_TOKEN|>",)),
    Signature("lfm2.5", ("<think>",), ("<|tool_list_start|>", "List of tools: [")),
    Signature("lfm2", (), ("<|tool_list_start|>", "List of tools: [")),
    Signature("gigachat-3.1", ("<|role_sep|>", "<|message_sep|>", "<|function_call|>")),
    Signature("gigachat-3", ("<|role_sep|>", "<|message_sep|>")),
    Signature("solar-open", ("<|tool_call:begin|>",)),
    Signature("hunyuan-3", (), ("<tool_call{}>", "<tool_call:")),
    Signature("apertus", ("<|tools_prefix|>",)),
    Signature("seed-oss", ("<seed:tool_call>",)),
    Signature("nemotron-nano-v2", ("<TOOLCALL>",)),
    Signature("minicpm5", ('<function name="', '<param name="', "<think>")),
    Signature("minicpm5-instruct", ('<function name="', '<param name="')),
    Signature("qwen3.5", (*_TAGGED, "<think>")),
    Signature("qwen3-coder", _TAGGED),
    Signature("functionary-v3.1", ("<function=",)),
    Signature("ling-3", (*_GLM, "<role>ASSISTANT</role>")),
    Signature("laguna", (*_GLM, "laguna_glm_thinking")),
    Signature("spark-2.5", (*_GLM, "<|Bot|>")),
    Signature("glm-4.5", (*_GLM, "</think>")),
    Signature("glm-4.5-instruct", _GLM),
    Signature("deepseek-r1", (_DEEPSEEK_CALLS, "```json")),
    Signature("deepseek-v3.1", (_DEEPSEEK_CALLS,)),
    Signature("magistral", ("[TOOL_CALLS]", "[ARGS]", "[THINK]")),
    Signature("mistral-v11", ("[TOOL_CALLS]", "[ARGS]")),
    Signature("magistral-2506", ("[TOOL_CALLS]", "<think>")),
    Signature("mistral", ("[TOOL_CALLS]",)),
    Signature("firefunction-v2", ("functools[",)),
    Signature("granite-3.3", ("<|start_of_role|>", "<|tool_call|>")),
    Signature("minimax-m1", ("<beginning_of_sentence>", "<tool_calls>")),
    Signature("apriel-1.6", ("<tool_calls>", "reasoning steps")),
    Signature("apriel-1.5", ("<tool_calls>",)),
    Signature("qwen3", ("<tool_call>",), ("<think>", "</think>")),
    Signature("hermes", ("<tool_call>",), settles_reasoning=False),
    Signature("llama-3-thinking", ("<think>",), ('{"name": function name', "<|python_tag|>")),
    Signature("llama-3", (), ('{"name": function name', "<|python_tag|>"), settles_reasoning=False),
)


def match(source: str, signatures: Sequence[Signature] = SIGNATURES) -> tuple[Signature, Family] | None:
    """The first signature that the source bears, or None."""
    for signature in signatures:
        if signature.matches(source):
            return signature, FAMILIES[signature.family]
    return None
