"""`ferrox-gguf parse`: one output, or a case a line; fed whole, by character or at random cuts."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.templates import templates

from ferrox_gguf.cli import parse
from ferrox_gguf.cli.cases import Cut

PING = {"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}}
CALL = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'


@pytest.fixture
def parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any):
    for name in ("Qwen-Qwen3-0.6B", "Qwen3.5-4B", "poolside-Laguna-XS-2.1", "Cohere2MoE"):
        (tmp_path / f"{name}.jinja").write_text(templates()[name], encoding="utf-8")

    def run(stdin: str, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8", "surrogatepass"))))
        status = parse.run([*arguments])
        out, err = capfdbinary.readouterr()
        return status, [json.loads(line) for line in out.splitlines()], err.decode()

    run.folder = tmp_path  # type: ignore[attr-defined]
    return run


def one_case(parsed: Any, *arguments: str, **case: Any) -> dict[str, Any]:
    folder = str(parsed.folder)
    status, results, _ = parsed(json.dumps({"id": "a", **case}), "--jsonl", "--template-dir", folder, *arguments)
    assert status == 0
    assert len(results) == 1
    assert results[0].pop("id") == "a"
    return results[0]


def test_one_output_is_read_as_its_template_says(parsed: Any) -> None:
    template = str(parsed.folder / "Qwen-Qwen3-0.6B.jinja")
    tools = parsed.folder / "tools.json"
    tools.write_text(json.dumps([PING]))
    status, [result], _ = parsed(
        f"<think>\nhm\n</think>\n\n{CALL}", "--chat-template-file", template, "--tools", str(tools)
    )
    assert status == 0
    assert (result["reasoning"] or "").strip() == "hm"
    assert result["content"] is None
    assert result["tool_calls"] == [{"name": "ping", "arguments": "{}"}]
    assert result["posture"]["reasoning_format"] == "qwen3"


def test_an_output_of_a_model_nobody_knows_is_read_for_hermes_calls(parsed: Any) -> None:
    tools = parsed.folder / "tools.json"
    tools.write_text(json.dumps([PING]))
    status, [result], _ = parsed(f"<think>a</think>{CALL}", "--tools", str(tools))
    assert (status, result["reasoning"], result["content"]) == (0, None, "<think>a</think>")
    assert [call["name"] for call in result["tool_calls"]] == ["ping"]
    assert parsed("<think>a</think>b", "--reasoning-parser", "qwen3")[1][0]["reasoning"] == "a"


def test_a_case_says_what_it_needs_and_gets_its_posture_told(parsed: Any) -> None:
    result = one_case(
        parsed, template="Qwen3.5-4B.jinja", reasoning_open=True, raw="hm\n</think>\n\nYes.", finish="stop"
    )
    assert ((result["reasoning"] or "").strip(), result["content"]) == ("hm", "Yes.")
    assert result["posture"]["family"] == "qwen3.5"


@pytest.mark.parametrize("cut", [("whole",), ("char",), ("random", "--seed", "7")])
def test_how_the_text_is_fed_changes_nothing(parsed: Any, cut: tuple[str, ...]) -> None:
    raw = f"hm</think>One moment. {CALL} Sent."
    result = one_case(
        parsed, "--cut", *cut, template="Qwen-Qwen3-0.6B.jinja", reasoning_open=True, raw=raw, tools=[PING]
    )
    assert (result["reasoning"], result["content"]) == ("hm", "One moment. Sent.")
    assert [call["name"] for call in result["tool_calls"]] == ["ping"]


def test_the_state_of_the_block_can_come_from_the_rendered_prompt(parsed: Any) -> None:
    prompt = "<|im_start|>user\nquoting <think>\n<|im_end|>\n<|im_start|>assistant\n"
    case = {"template": "Qwen3.5-4B.jinja", "raw": "a</think>b"}
    opened = one_case(parsed, prompt=prompt + "<think>\n", **case)
    assert (opened["reasoning"], opened["content"]) == ("a", "b")
    closed = one_case(parsed, prompt=prompt + "<think>\n\n</think>\n\n", **case)
    assert closed["reasoning"] is None
    quoted = one_case(parsed, prompt=prompt, template="Qwen3.5-4B.jinja", raw="b")
    assert (quoted["reasoning"], quoted["content"]) == (None, "b")


def test_without_a_word_about_the_prompt_the_template_is_asked(parsed: Any) -> None:
    result = one_case(parsed, template="Qwen3.5-4B.jinja", raw="a</think>b")
    assert (result["reasoning"], result["content"]) == ("a", "b")


def test_string_stops_of_the_family_end_the_output(parsed: Any) -> None:
    result = one_case(
        parsed, template="poolside-Laguna-XS-2.1.jinja", reasoning_open=False, raw="Done.</assistant><user>Mine"
    )
    assert result["content"] == "Done."


def test_stop_strings_of_the_request_end_the_answer(parsed: Any) -> None:
    result = one_case(
        parsed, template="Qwen3.5-4B.jinja", reasoning_open=True, raw="a STOP b</think>c STOP d", stop=["STOP"]
    )
    assert (result["reasoning"], result["content"]) == ("a STOP b", "c ")


@pytest.mark.behaviour("O6")
@pytest.mark.parametrize("cut", ["whole", "char", "random"])
def test_a_family_that_always_thinks_first_needs_no_prompt_to_be_read(parsed: Any, cut: str) -> None:
    raw = (
        'I need the weather.</think><minimax:tool_call><invoke name="get_weather">'
        '<parameter name="city">Rome</parameter></invoke></minimax:tool_call>'
    )
    city = {"type": "object", "properties": {"city": {"type": "string"}}}
    weather = {"type": "function", "function": {"name": "get_weather", "parameters": city}}
    for known in ({"template_source": templates()["MiniMax-M2"]}, {"arch": "minimax-m2"}, {"name": "MiniMax-M2"}):
        result = one_case(parsed, "--cut", cut, raw=raw, tools=[weather], **known)
        assert (result["reasoning"], result["content"]) == ("I need the weather.", None)
        assert result["tool_calls"] == [{"name": "get_weather", "arguments": '{"city":"Rome"}'}]


@pytest.mark.behaviour("P7")
@pytest.mark.parametrize("cut", ["whole", "char"])
def test_a_complete_case_is_read_in_one_piece_whatever_the_cut(parsed: Any, cut: str) -> None:
    case = {"template": "Qwen-Qwen3-0.6B.jinja", "reasoning_open": False, "raw": "all thought</think>\nYes."}
    result = one_case(parsed, "--cut", cut, mode="complete", **case)
    assert (result["reasoning"], result["content"]) == ("all thought", "Yes.")
    stream = one_case(parsed, "--cut", "char", **case)
    assert stream["reasoning"] is None, "a stream has sent that text as content already"


def test_formats_can_be_given_and_null_means_none(parsed: Any) -> None:
    given = one_case(parsed, reasoning_format="mistral", tool_format="mistral_v11", raw="[THINK]a[/THINK]b")
    assert (given["reasoning"], given["content"]) == ("a", "b")
    none = one_case(parsed, template="Qwen-Qwen3-0.6B.jinja", reasoning_format=None, raw="<think>a</think>b")
    assert (none["reasoning"], none["content"]) == (None, "<think>a</think>b")


def test_a_cut_call_stays_unclosed_and_arguments_are_text(parsed: Any) -> None:
    tool = {"type": "function", "function": {"name": "save", "parameters": {"type": "object"}}}
    raw = '<tool_call>{"name": "save", "arguments": {"path": "a", "bo'
    result = one_case(
        parsed, template="Qwen-Qwen3-0.6B.jinja", reasoning_open=False, raw=raw, tools=[tool], finish="length"
    )
    assert result["tool_calls"] == [{"name": "save", "arguments": '{"path":"a","bo'}]


def test_a_bad_case_is_an_error_line_and_the_others_go_on(parsed: Any) -> None:
    lines = [
        "not json",
        json.dumps({"id": 2, "template": "absent.jinja", "raw": "x"}),
        json.dumps({"id": 3, "reasoning_format": "nonsense", "raw": "x"}),
        json.dumps({"id": 4, "tools": "none", "raw": "x"}),
        json.dumps({"id": 5, "raw": 5}),
        "",
        json.dumps({"id": 6, "raw": "fine"}),
    ]
    status, results, _ = parsed("\n".join(lines), "--jsonl")
    assert status == 1
    assert [(result["id"], "error" in result) for result in results] == [
        (None, True),
        (2, True),
        (3, True),
        (4, True),
        (5, True),
        (6, False),
    ]


def test_cases_can_come_from_a_file(parsed: Any) -> None:
    cases = parsed.folder / "cases.jsonl"
    cases.write_text(json.dumps({"id": 1, "raw": "é"}) + "\n" + json.dumps({"id": 2, "raw": "b"}) + "\n")
    status, results, _ = parsed("", "--jsonl", str(cases))
    assert (status, [result["content"] for result in results]) == (0, ["é", "b"])


@pytest.mark.parametrize("raw", ["", "\ud800", "\x00", "{" * 10000, "9" * 5000, "<tool_call>\ud800"])
def test_odd_output_is_never_an_error(parsed: Any, raw: str) -> None:
    result = one_case(parsed, template="Qwen-Qwen3-0.6B.jinja", reasoning_open=False, raw=raw, tools=[PING])
    assert result["content"] == (raw or None)


def test_where_a_thought_is_shown_can_be_chosen_as_in_llama_server(parsed: Any) -> None:
    template = str(parsed.folder / "Qwen-Qwen3-0.6B.jinja")
    _, [result], _ = parsed("<think>a</think>b", "--chat-template-file", template, "--reasoning-format", "none")
    assert (result["reasoning"], result["content"]) == (None, "<think>a</think>b")


def test_random_cuts_are_the_same_for_the_same_seed_and_lose_nothing() -> None:
    text = "any text that is long enough to be cut somewhere"
    first, again, other = (list(Cut("random", seed).pieces(text)) for seed in (1, 1, 2))
    assert first == again != other
    assert "".join(first) == "".join(other) == text
    assert list(Cut("char").pieces("ab")) == ["a", "b"]


def test_a_missing_file_is_one_line_and_status_1(parsed: Any) -> None:
    status, results, err = parsed("", "--jsonl", "/no/such/cases")
    assert (status, results) == (1, [])
    assert err == "error: /no/such/cases: No such file or directory\n"
