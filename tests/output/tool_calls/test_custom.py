"""A family whose template nobody has seen: its renderings, compared, are enough to read its calls."""

from __future__ import annotations

import pytest
from support.calls import ROME, ROME_COMPACT, Call, Said, fed, said, splitter
from support.json_calls import WRITERS
from support.templates import template

from ferrox_gguf.jinja import compile_template
from ferrox_gguf.output.tool_calls.custom import json_syntax, named_syntax
from ferrox_gguf.output.tool_calls.syntax import Syntax
from ferrox_gguf.posture.differ import compare_calls
from ferrox_gguf.posture.values import CallMarkers

WRITTEN_AS = {
    "Apertus-8B-Instruct": "apertus",
    "Apriel-1.6-15b-Thinker-fixed": "apriel",
    "Cohere2MoE": "cohere",
    "CohereForAI-c4ai-command-r-plus-tool_use": "command_r_plus",
    "GigaChat3-10B-A1.8B": "gigachat3",
    "GigaChat3.1-10B-A1.8B": "gigachat31",
    "MiniMax-M1": "minimax_m1",
    "Mistral-Small-3.2-24B-Instruct-2506": "mistral_v11",
    "NVIDIA-Nemotron-Nano-v2": "nemotron_v2",
    "deepseek-ai-DeepSeek-V3.1": "deepseek_v31",
    "fireworks-ai-llama-3-firefunction-v2": "firefunction",
    "llama-cpp-deepseek-r1": "deepseek_r1",
    "meetkai-functionary-medium-v3.1": "functionary_v31",
    "meetkai-functionary-medium-v3.2": "functionary_v32",
    "mistralai-Mistral-Nemo-Instruct-2407": "mistral",
    "unsloth-Apriel-1.5": "apriel",
}


def compared(name: str) -> Syntax:
    found = compare_calls(compile_template(template(name)), {"bos_token": "<s>", "eos_token": "</s>"})
    assert found is not None
    assert found.markers is not None
    make = {"json": json_syntax, "name_json": named_syntax}[found.markers.payload]
    return make(found.markers)


@pytest.mark.parametrize("name", WRITTEN_AS)
def test_calls_are_read_with_nothing_known_but_the_template(name):
    text = WRITERS[WRITTEN_AS[name]]([("book_table", ROME), ("ping", "{}")])
    read = fed(splitter(compared(name)), f"Now. {text}\nDone.")
    assert [(call.name, call.arguments) for call in read.calls] == [("book_table", ROME_COMPACT), ("ping", "{}")]
    assert read.content.split() == ["Now.", "Done."]


@pytest.mark.parametrize("name", WRITTEN_AS)
def test_an_unoffered_call_stays_text(name):
    text = WRITERS[WRITTEN_AS[name]]([("format_disk", ROME)])
    assert fed(splitter(compared(name)), text) == Said(text)


def test_ids_in_the_payload_and_in_the_markup_are_kept():
    for name, form in (
        ("mistralai-Mistral-Nemo-Instruct-2407", "mistral"),
        ("Mistral-Small-3.2-24B-Instruct-2506", "mistral_v11"),
    ):
        read = fed(splitter(compared(name)), WRITERS[form]([("ping", "{}")]))
        assert read == Said("", (Call("ping", id="000000000"),))


def test_without_any_marker_only_the_messages_start_can_be_a_call():
    bare = json_syntax(CallMarkers("json", arguments_field="parameters"))
    call = '{"name": "ping", "parameters": {"a": 1}}'
    assert said(bare, f"{call}\n{call}") == Said("", (Call("ping", '{"a":1}'), Call("ping", '{"a":1}')))
    assert said(bare, f"So {call}") == Said(f"So {call}")


def test_a_bare_list_at_the_messages_start():
    bare = json_syntax(CallMarkers("json", array=True))
    text = '[{"name": "ping", "arguments": {}}, {"name": "book_table", "arguments": {}}]'
    assert said(bare, text) == Said("", (Call("ping"), Call("book_table")))
    assert said(bare, "[1, 2]") == Said("[1, 2]")


def test_markers_around_each_object_in_a_section():
    syntax = json_syntax(
        CallMarkers("json", section_open="<calls>", section_close="</calls>", call_open="<c>", call_close="</c>")
    )
    one, no = '<c>{"name": "ping", "arguments": {}}</c>', '<c>{"name": "no", "arguments": {}}</c>'
    assert said(syntax, f"a <calls>{one}\n{no}\n{one}</calls> b") == Said(f"a {no}b", (Call("ping"), Call("ping")))
