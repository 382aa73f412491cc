"""Markers are found by comparing renderings alone, for templates whose signature nobody has written down."""

from __future__ import annotations

import time

import pytest
from support.templates import templates

from ferrox_gguf.jinja import compile_template
from ferrox_gguf.posture import PostureInputs, resolve
from ferrox_gguf.posture.differ import compare_calls, compare_reasoning
from ferrox_gguf.posture.differ.segments import difference, markers, segments
from ferrox_gguf.posture.differ.thoughts import closing_of
from ferrox_gguf.posture.signatures import SIGNATURES
from ferrox_gguf.posture.values import CallMarkers, Posture, ReasoningStyle

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def without_table(source: str) -> Posture:
    """Resolved with no signature at all, no vocabulary, no architecture and no name."""
    return resolve(PostureInputs(), source, signatures=())


def held_out(source: str, *families: str) -> Posture:
    """Resolved with the table, but for these families."""
    left = [signature for signature in SIGNATURES if signature.family not in families]
    return resolve(PostureInputs(), source, signatures=left)


def test_seed_oss_held_out_is_found_by_its_renderings() -> None:
    posture = held_out(templates()["ByteDance-Seed-OSS"], "seed-oss", "functionary-v3.1")
    assert posture.reasoning is not None
    assert (posture.reasoning.opener, posture.reasoning.closer) == ("<seed:think>", "</seed:think>")
    assert posture.tool_format == "custom"
    assert posture.call_markers == CallMarkers(
        "tagged",
        section_open="<seed:tool_call>",
        section_close="</seed:tool_call>",
        call_open="<function=",
        call_close="</function>",
        name_close=">",
        key_open="<parameter=",
        key_close=">",
        value_close="</parameter>",
    )


def test_apertus_held_out_is_found_by_its_renderings() -> None:
    posture = held_out(templates()["Apertus-8B-Instruct"], "apertus")
    assert posture.reasoning is not None
    assert (posture.reasoning.opener, posture.reasoning.closer) == ("<|inner_prefix|>", "<|inner_suffix|>")
    assert posture.call_markers == CallMarkers(
        "json", section_open="<|tools_prefix|>", section_close="<|tools_suffix|>", array=True, name_as_key=True
    )


def test_ministral_held_out_is_found_by_its_renderings() -> None:
    source = templates()["mistralai-Ministral-3-14B-Reasoning-2512"]
    posture = held_out(source, "magistral", "mistral-v11", "magistral-2506", "mistral")
    assert posture.reasoning is not None
    assert (posture.reasoning.opener, posture.reasoning.closer) == ("[THINK]", "[/THINK]")
    assert posture.call_markers == CallMarkers("name_json", call_open="[TOOL_CALLS]", name_close="[ARGS]")


def test_evidence_of_a_comparison_names_the_markers_that_it_saw() -> None:
    evidence = "\n".join(without_table(templates()["ByteDance-Seed-OSS"]).evidence)
    assert "`<seed:think>` … `</seed:think>`" in evidence
    assert "`<seed:tool_call>`" in evidence


THOUGHTS = {
    "Apertus-8B-Instruct": ("<|inner_prefix|>", "<|inner_suffix|>", None),
    "Bielik-11B-v3.0-Instruct": ("<think>", "</think>", None),
    "Cohere2MoE": ("<|START_THINKING|>", "<|END_THINKING|>", ("<|START_TEXT|>", "<|END_TEXT|>")),
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": (
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    ),
    "GLM-4.6": ("<think>", "</think>", None),
    "GLM-4.7-Flash": ("<think>", "</think>", None),
    "HuggingFaceTB-SmolLM3-3B": ("<think>", "</think>", None),
    "Kimi-K2-Thinking": ("<think>", "</think>", None),
    "LFM2.5-8B-A1B": ("<think>", "</think>", None),
    "MiniMax-M2": ("<think>", "</think>", None),
    "MiniMax-M3": ("<mm:think>", "</mm:think>", None),
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": ("<think>", "</think>", None),
    "NVIDIA-Nemotron-Nano-v2": ("<think>", "</think>", None),
    "Qwen-QwQ-32B": ("<think>", "</think>", None),
    "Qwen-Qwen3-0.6B": ("<think>", "</think>", None),
    "Qwen3.5-4B": ("<think>", "</think>", None),
    "Reka-Edge": ("<think>", "</think>", None),
    "Spark2.5": ("<think>", "</think>", None),
    "StepFun3.5-Flash": ("<think>", "</think>", None),
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B": ("<think>", "</think>", None),
    "deepseek-ai-DeepSeek-V3.1": ("<think>", "</think>", None),
    "deepseek-ai-DeepSeek-V3.2": ("<think>", "</think>", None),
    "deepseek-ai-DeepSeek-V4": ("<think>", "</think>", None),
    "google-gemma-4-31B-it": ("<|channel>thought\n", "<channel|>", None),
    "inclusionai-ling-3.0-flash": ("<think>", "</think>", None),
    "llama-cpp-rwkv-world": ("<think>", "</think>", None),
    "openbmb-MiniCPM5-1B": ("<think>", "</think>", None),
    "poolside-Laguna-S-2.1": ("<think>", "</think>", None),
    "poolside-Laguna-XS-2.1": ("<think>", "</think>", None),
    "tencent-Hy3": ("<think:opensource>", "</think:opensource>", None),
}


@pytest.mark.parametrize("name", THOUGHTS)
def test_thoughts_are_found_without_any_signature(name: str) -> None:
    found = compare_reasoning(compile_template(templates()[name]), TOKENS)
    assert found is not None
    assert (found.format.opener, found.format.closer, found.format.wrapper) == THOUGHTS[name]


@pytest.mark.parametrize(
    "name",
    [
        "CohereForAI-c4ai-command-r-plus-tool_use",
        "GigaChat3-10B-A1.8B",
        "Kimi-K2-Instruct",
        "LFM2-8B-A1B",
        "Mistral-Small-3.2-24B-Instruct-2506",
        "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
        "Qwen-Qwen2.5-7B-Instruct",
        "Qwen3-Coder",
        "google-gemma-2-2b-it",
        "ibm-granite-granite-4.0",
        "meetkai-functionary-medium-v3.2",
        "meta-llama-Llama-3.1-8B-Instruct",
        "microsoft-Phi-3.5-mini-instruct",
    ],
)
def test_no_thought_is_imagined_where_a_family_has_none(name: str) -> None:
    assert compare_reasoning(compile_template(templates()[name]), TOKENS) is None


def test_a_delimiter_behind_the_thought_is_all_there_is_to_find() -> None:
    found = compare_reasoning(compile_template(templates()["Apriel-1.6-15b-Thinker-fixed"]), TOKENS)
    assert found is not None
    assert found.format.style is ReasoningStyle.DELIMITER
    assert (found.format.opener, found.format.closer) == ("", "[BEGIN FINAL RESPONSE]")


@pytest.mark.parametrize(
    "name", ["Qwen-Qwen2.5-7B-Instruct", "Qwen-Qwen3-0.6B", "ibm-granite-granite-4.0", "Reka-Edge", "MiMo-VL"]
)
def test_the_hermes_form_is_recognised_by_its_renderings(name: str) -> None:
    found = compare_calls(compile_template(templates()[name]), TOKENS)
    assert found is not None
    assert (found.tool_format, found.markers) == ("qwen25", None)


@pytest.mark.parametrize("name", ["meta-llama-Llama-3.1-8B-Instruct", "meta-llama-Llama-3.2-3B-Instruct"])
def test_so_is_bare_json(name: str) -> None:
    found = compare_calls(compile_template(templates()[name]), TOKENS)
    assert found is not None
    assert (found.tool_format, found.markers) == ("llama3", None)


CALLS = {
    "Apriel-1.6-15b-Thinker-fixed": CallMarkers(
        "json", section_open="<tool_calls>", section_close="</tool_calls>", array=True
    ),
    "Cohere2MoE": CallMarkers(
        "json",
        section_open="<|START_ACTION|>",
        section_close="<|END_ACTION|>",
        name_field="tool_name",
        arguments_field="parameters",
        array=True,
    ),
    "GLM-4.7-Flash": CallMarkers(
        "tagged",
        call_open="<tool_call>",
        call_close="</tool_call>",
        key_open="<arg_key>",
        key_close="</arg_key>",
        value_open="<arg_value>",
        value_close="</arg_value>",
    ),
    "MiniMax-M1": CallMarkers("json", section_open="<tool_calls>", section_close="</tool_calls>"),
    "MiniMax-M2": CallMarkers(
        "tagged",
        section_open="<minimax:tool_call>",
        section_close="</minimax:tool_call>",
        call_open='<invoke name="',
        call_close="</invoke>",
        name_close='">',
        key_open='<parameter name="',
        key_close='">',
        value_close="</parameter>",
    ),
    "NVIDIA-Nemotron-Nano-v2": CallMarkers("json", section_open="<TOOLCALL>", section_close="</TOOLCALL>", array=True),
    "deepseek-ai-DeepSeek-V3.1": CallMarkers(
        "name_json",
        section_open="<｜tool▁calls▁begin｜>",
        section_close="<｜tool▁calls▁end｜>",
        call_open="<｜tool▁call▁begin｜>",
        call_close="<｜tool▁call▁end｜>",
        name_close="<｜tool▁sep｜>",
    ),
    "llama-cpp-deepseek-r1": CallMarkers(
        "name_json",
        section_open="<｜tool▁calls▁begin｜>",
        section_close="<｜tool▁calls▁end｜>",
        call_open="<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
        call_close="```<｜tool▁call▁end｜>",
        name_close="```json",
    ),
    "meetkai-functionary-medium-v3.1": CallMarkers(
        "name_json", call_open="<function=", call_close="</function>", name_close=">"
    ),
    "mistralai-Mistral-Nemo-Instruct-2407": CallMarkers("json", section_open="[TOOL_CALLS]", id_field="id", array=True),
    "openbmb-MiniCPM5-1B": CallMarkers(
        "tagged",
        call_open='<function name="',
        call_close="</function>",
        name_close='">',
        key_open='<param name="',
        key_close='">',
        value_close="</param>",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_call_markers_are_found_without_any_signature(name: str) -> None:
    template = compile_template(templates()[name])
    thought = compare_reasoning(template, TOKENS)
    found = compare_calls(template, TOKENS, thought and thought.format)
    assert found is not None
    assert (found.tool_format, found.markers) == ("custom", CALLS[name])


@pytest.mark.parametrize("name", ["Kimi-K2-Instruct", "Kimi-K3", "upstage-Solar-Open-100B", "muse-glimmer"])
def test_markup_with_counters_or_ids_in_it_is_not_taken_for_markers(name: str) -> None:
    assert compare_calls(compile_template(templates()[name]), TOKENS) is None


@pytest.mark.parametrize("name", sorted(templates()))
def test_no_template_breaks_the_comparison(name: str) -> None:
    assert without_table(templates()[name]).evidence


def test_a_template_made_up_here_is_read_from_its_renderings() -> None:
    source = (
        "{% for m in messages %}({{ m.role }}) "
        "{% if m.reasoning_content %}<muse>{{ m.reasoning_content }}</muse>{% endif %}{{ m.content or '' }}"
        "{% if m.tool_calls %}<deeds>{% for c in m.tool_calls %}"
        '<deed name="{{ c.function.name }}">{{ c.function.arguments | tojson }}</deed>'
        "{% endfor %}</deeds>{% endif %}\n{% endfor %}{% if add_generation_prompt %}(assistant) {% endif %}"
    )
    posture = resolve(PostureInputs(), source)
    assert posture.reasoning is not None
    assert (posture.reasoning.name, posture.reasoning.opener, posture.reasoning.closer) == (
        "custom",
        "<muse>",
        "</muse>",
    )
    assert posture.call_markers == CallMarkers(
        "name_json",
        section_open="<deeds>",
        section_close="</deeds>",
        call_open='<deed name="',
        call_close="</deed>",
        name_close='">',
    )


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception('no') }}",
        "{{ messages[0].content.nothing.at.all }}",
        "{% for m in messages %}{{ m }}{% endfor %}",
        "{{ '<think>' * 1000 }}",
        "plain {{ 1 }}",
    ],
)
def test_a_template_that_refuses_or_shows_nothing_is_no_error(source: str) -> None:
    posture = resolve(PostureInputs(), source)
    assert (posture.tool_format, posture.call_markers) == (None, None)


def test_a_template_that_costs_too_much_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from ferrox_gguf.posture.differ import probe

    monkeypatch.setattr(probe, "SECONDS", 0.5)
    slow = compile_template(
        "{% for a in range(200) %}{% for b in range(200) %}{% set c = a * b %}{% endfor %}{% endfor %}"
        "{% for m in messages %}{{ m.content }}<think>{{ m.reasoning_content }}</think>{% endfor %}"
    )
    began = time.monotonic()
    compare_reasoning(slow, TOKENS)
    compare_calls(slow, TOKENS)
    assert time.monotonic() - began < 15


def test_a_difference_never_cuts_a_marker_in_half() -> None:
    changed = difference("a <tool_call>x</tool_call> z", "a <tool_response>y</tool_response> z")
    assert changed.right == "<tool_response>y</tool_response>"
    assert (changed.before, changed.left, changed.after) == ("a ", "<tool_call>x</tool_call>", " z")


@pytest.mark.parametrize("text", ["", "a<b", "<a><b>\n", "[X]y[", "<x y='z'> 1 < 2 [1, 2]", "]<]minimax[>[<k>"])
def test_segments_lose_no_character(text: str) -> None:
    assert "".join(segments(text)) == text


def test_lists_of_numbers_are_no_markers() -> None:
    assert markers("[1, 2] <a> [THINK] [x]") == ["<a>", "[THINK]"]


@pytest.mark.parametrize(
    ("opener", "closer"),
    [
        ("<think>", "</think>"),
        ("[THINK]", "[/THINK]"),
        ("<seed:think>", "</seed:think>"),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        ("<|inner_prefix|>", "<|inner_suffix|>"),
        ("</think>", ""),
    ],
)
def test_a_closer_is_spelled_after_its_opener(opener: str, closer: str) -> None:
    assert closing_of(opener) == closer
