"""Filling in over HTTP: the prompt that a code model was trained on, and who cannot."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from support.asking import post
from support.models import scripted_ready
from support.scripted import ByteVocabulary
from support.serving import serving

from ferrox_gguf.settings import Settings

FILLS = ByteVocabulary(control=["<fim_prefix>", "<fim_suffix>", "<fim_middle>"])
CODE = {"input_prefix": "def f():\n", "prompt": "    ret", "input_suffix": "\n"}


def filling(script: bytes = b"urn 1", vocabulary: ByteVocabulary = FILLS, settings: Settings | None = None):
    return serving(lambda: scripted_ready(script, vocabulary=vocabulary, settings=settings), settings)


def test_the_middle_is_asked_for_behind_prefix_and_suffix() -> None:
    with filling() as url:
        answer = post(url + "/infill", CODE).json()
    assert answer["content"] == "urn 1"
    assert answer["prompt"] == "<s><fim_prefix>def f():\n    ret<fim_suffix>\n<fim_middle>"
    assert answer["tokens_evaluated"] == len("def f():\n    ret\n") + 4


def test_the_suffix_comes_first_where_the_flag_says_so() -> None:
    settings = replace(Settings(), spm_infill=True)
    with filling(settings=settings) as url:
        prompt = post(url + "/infill", CODE).json()["prompt"]
    assert prompt == "<s><fim_suffix>\n<fim_prefix>def f():\n    ret<fim_middle>"


def test_other_files_stand_in_front_the_most_relevant_last() -> None:
    files = [{"text": "far", "filename": "a.py"}, {"text": "near"}]
    settings = replace(Settings(), context=replace(Settings().context, n_ctx=4096))
    with filling(settings=settings) as url:
        prompt = post(url + "/infill", {**CODE, "input_extra": files}).json()["prompt"]
    assert prompt.index("far") < prompt.index("near") < prompt.index("<fim_prefix>")


def test_a_stream_ends_with_the_reason() -> None:
    with filling() as url:
        text = post(url + "/infill", {**CODE, "stream": True}).text
    frames = [json.loads(line[6:]) for line in text.split("\n\n") if line]
    assert "".join(frame["content"] for frame in frames) == "urn 1"
    assert (frames[-1]["stop"], frames[-1]["stop_type"]) == (True, "eos")


def test_a_line_that_is_indented_too_little_ends_the_answer() -> None:
    with filling(b"urn 1\n    x\ny") as url:
        answer = post(url + "/infill", {**CODE, "n_indent": 4}).json()
    assert answer["content"].rstrip() == "urn 1\n    x"


@pytest.mark.parametrize(
    ("control", "missing", "present"),
    [
        ((), ("prefix token", "suffix token", "middle token"), ()),
        (("<fim_prefix>", "<fim_suffix>"), ("middle token",), ("prefix token", "suffix token")),
    ],
)
def test_a_model_that_cannot_fill_in_is_told_by_the_missing_tokens(
    control: tuple[str, ...], missing: tuple[str, ...], present: tuple[str, ...]
) -> None:
    with filling(vocabulary=ByteVocabulary(control=control)) as url:
        for body in (CODE, {}):
            answer = post(url + "/infill", body)
            error = answer.json()["error"]
            assert (answer.status_code, error["type"]) == (501, "not_supported_error")
            assert all(name in error["message"] for name in missing)
            assert not any(name in error["message"] for name in present)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"input_prefix": None}, "input_prefix"),
        ({"input_suffix": 5}, "input_suffix"),
        ({"prompt": ["a"]}, "prompt"),
        ({"input_extra": {}}, "input_extra"),
        ({"input_extra": [{"filename": "x"}]}, "input_extra[0].text"),
        ({"input_extra": [{"text": "a", "filename": 5}]}, "input_extra[0].filename"),
    ],
)
def test_a_wrong_field_is_refused_by_name(fields: dict, named: str) -> None:
    with filling() as url:
        answer = post(url + "/infill", {**CODE, **fields})
    assert answer.status_code == 400
    assert f"'{named}'" in answer.json()["error"]["message"]
