"""`ferrox-gguf inspect` says what was found and why, without loading weights."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from gguf import GGUFWriter, TokenType
from support.templates import templates

from ferrox_gguf.cli import inspect


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "Seen-1B-Q8_0.gguf"
    made = GGUFWriter(str(path), "qwen3")
    made.add_name("Seen 1B")
    made.add_context_length(4096)
    made.add_token_list(["<s>", "</s>", "<think>", "</think>"])
    made.add_token_types([TokenType.CONTROL, TokenType.CONTROL, TokenType.USER_DEFINED, TokenType.USER_DEFINED])
    made.add_eos_token_id(1)
    made.add_chat_template(
        [
            {"name": "default", "template": templates()["Qwen-Qwen3-0.6B"]},
            {"name": "tool_use", "template": templates()["MiniMax-M2"]},
        ]
    )
    made.write_header_to_file()
    made.write_kv_data_to_file()
    made.close()
    return path


def inspected(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert inspect.run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_file_is_described_with_its_posture_and_the_evidence(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = inspected(capsys, str(model))
    assert found["file"]["name"] == "Seen 1B"
    assert found["file"]["eos"] == {"id": 1, "text": "</s>"}
    assert found["template"]["origin"] == "the file's own template"
    posture = found["posture"]
    assert (posture["reasoning_format"], posture["tool_format"]) == ("qwen3", "qwen25")
    assert posture["reasoning_protocol"] == "model_generated"
    assert any("the template holds `<tool_call>`" in sentence for sentence in posture["evidence"])


def test_a_variant_for_tools_that_speaks_otherwise_is_shown_too(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = inspected(capsys, str(model))
    assert found["template"]["variants"] == ["tool_use"]
    assert found["posture_with_tools"]["tool_format"] == "minimax"


def test_text_for_people_names_the_same_facts(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert inspect.run([str(model)]) == 0
    text = capsys.readouterr().out
    for words in ("Seen 1B", "model_generated", "qwen25", "</s> (id 1)", "the template holds `<tool_call>`"):
        assert words in text


def test_a_template_alone_with_a_name_is_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = tmp_path / "t.jinja"
    template.write_text(templates()["MiMo-VL"], encoding="utf-8")
    found = inspected(capsys, "--chat-template-file", str(template), "--name", "MiMo-VL-7B-RL")
    assert "file" not in found
    assert found["posture"]["reasoning_format"] == "qwen3"
    assert inspected(capsys, "--chat-template-file", str(template))["posture"]["reasoning_format"] is None


def test_flags_override_what_was_found(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = inspected(capsys, str(model), "--reasoning-parser", "none", "--tool-call-parser", "llama3")
    assert (found["posture"]["reasoning_format"], found["posture"]["tool_format"]) == (None, "llama3")


def test_markers_found_by_comparing_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = tmp_path / "t.jinja"
    template.write_text(
        "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% for c in m.tool_calls or [] %}"
        "<do>{{ c.function | tojson }}</do>{% endfor %}{% endfor %}",
        encoding="utf-8",
    )
    found = inspected(capsys, "--chat-template-file", str(template))
    assert found["posture"]["tool_format"] == "custom"
    assert found["posture"]["call_markers"]["call_open"] == "<do>"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/no/such/model.gguf"], "there is no such file"),
        (["--chat-template-file", "/no/such/template"], "No such file"),
        ([], "give a model file or --chat-template-file"),
        (["--chat-template", "{{ 'x' }}", "--reasoning-parser", "nonsense"], "there is no reasoning format 'nonsense'"),
        (["--chat-template", "{% if %}"], "--chat-template: the template is not valid"),
    ],
)
def test_what_cannot_be_inspected_is_one_line_and_status_1(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert inspect.run(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert words in captured.err
    assert captured.err.count("\n") == 1


def test_no_weights_and_no_llama_cpp_are_needed(model: Path) -> None:
    code = (
        "import sys; from ferrox_gguf.cli import inspect; "
        f"status = inspect.run([{str(model)!r}]); assert 'llama_cpp' not in sys.modules; sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
