"""The specification's cases, through `ferrox-gguf parse` itself: whole, by character, and at random cuts.

Where a case names a template, no format is given: the posture is resolved from the template's text (and the model's
name, where the case has one). Comparison rules: wire-formats section 9.
"""

from __future__ import annotations

import io
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.templates import templates

from ferrox_gguf.cli import parse

CASES = [
    json.loads(line) for line in (Path(__file__).parent / "output_cases.jsonl").read_text(encoding="utf-8").splitlines()
]
TEMPLATED = [case for case in CASES if case["template"]]
CUTS = {
    "whole": ("whole", 0),
    "by character": ("char", 0),
    **{f"at random, {seed}": ("random", seed) for seed in range(1, 5)},
}
FORMATS = ("reasoning_format", "tool_format")


def as_input(case: dict[str, Any]) -> dict[str, Any]:
    """The case without its answer, and without its formats where the template must tell them."""
    hidden = {"expected", "basis", "note", "family", "group", "unchecked"}
    given = {name: value for name, value in case.items() if name not in hidden}
    if case["template"]:
        template = given.pop("template")
        given["template_source"] = templates()[template.removesuffix(".jinja")]
        for name in FORMATS:
            del given[name]
    return given


@cache
def results(how: str) -> dict[str, dict[str, Any]]:
    """All cases in one run of the command."""
    cut, seed = CUTS[how]
    lines = "\n".join(json.dumps(as_input(case)) for case in CASES)
    with pytest.MonkeyPatch.context() as patch:
        out = io.TextIOWrapper(io.BytesIO())
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
        patch.setattr(sys, "stdout", out)
        status = parse.run(["--jsonl", "--cut", cut, "--seed", str(seed)])
    assert status == 0
    written = out.buffer.getvalue().decode().splitlines()
    return {result["id"]: result for result in map(json.loads, written)}


def same(left: Any, right: Any) -> bool:
    """JSON values are equal, types included; a number is a number (5 = 5.0)."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


def test_the_comparison_tells_types_apart() -> None:
    assert same({"a": [1, "1"]}, {"a": [1.0, "1"]})
    assert not same(1, "1")
    assert not same(True, 1)
    assert not same([1], [1, 2])
    assert not same({"a": None}, {})


@pytest.mark.parametrize("how", CUTS)
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_an_output_is_read_as_the_specification_says(case: dict[str, Any], how: str) -> None:
    result, expected, unchecked = results(how)[case["id"]], case["expected"], case.get("unchecked", ())
    for part in ("reasoning", "content"):
        if part not in unchecked:
            assert (result[part] or "").strip() == (expected[part] or "").strip(), part
    if "tool_calls" in unchecked:
        return
    calls = result["tool_calls"]
    assert [call["name"] for call in calls] == [call["name"] for call in expected["tool_calls"]]
    for call, wanted in zip(calls, expected["tool_calls"], strict=True):
        if isinstance(wanted["arguments"], str):  # a call that was cut: the text as far as it came
            assert call["arguments"] == wanted["arguments"]
        else:
            assert same(json.loads(call["arguments"]), wanted["arguments"])
        if "id" in wanted:
            assert call["id"] == wanted["id"]


@pytest.mark.parametrize("case", TEMPLATED, ids=[case["id"] for case in TEMPLATED])
def test_the_template_alone_tells_the_formats(case: dict[str, Any]) -> None:
    posture = results("whole")[case["id"]]["posture"]
    assert posture["reasoning_format"] == case["reasoning_format"]
    # Hermes is what a model without a native format is read by, so either name means the same.
    assert {posture["tool_format"], case["tool_format"]} in ({case["tool_format"]}, {None, "qwen25"})
