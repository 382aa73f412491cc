"""Prompts for filling in the middle, and pairs for reranking, on a vocabulary of bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from ferrox_gguf.errors import NotSupported
from ferrox_gguf.request import ExtraFile, Generation, InfillRequest
from ferrox_gguf.runtime.infill import FillLimits, fill_prompt
from ferrox_gguf.runtime.rerank import pair_tokens

NAMES = {1000: "<bos>", 1001: "<pre>", 1002: "<suf>", 1003: "<mid>", 1004: "<repo>", 1005: "<sep>", 1006: "<eos>"}


@dataclass(frozen=True)
class Bytes:
    """Every character is its code point; the markers are ids from 1000 on."""

    bos: int | None = 1000
    eos: int | None = 1006
    sep: int | None = 1005
    adds_bos: bool = False
    adds_eos: bool = False
    adds_sep: bool = False
    fim_prefix: int | None = 1001
    fim_suffix: int | None = 1002
    fim_middle: int | None = 1003
    fim_repository: int | None = None
    fim_separator: int | None = None

    def tokenize(self, text: str, *, add_special: bool, parse_special: bool) -> list[int]:
        return list(map(ord, text))


def told(tokens: tuple[int, ...]) -> str:
    return "".join(NAMES.get(token) or chr(token) for token in tokens)


WIDE = FillLimits(n_batch=2048, n_ctx=8192)
CODE = InfillRequest(prefix="def f():\n", suffix="\nend", prompt="  ret", extra=(ExtraFile("x = 1\n", "a.py"),))


def test_what_was_typed_stands_between_the_prefix_and_the_suffix() -> None:
    plain = replace(CODE, extra=())
    assert told(fill_prompt(plain, Bytes(), WIDE)) == "<pre>def f():\n  ret<suf>\nend<mid>"


def test_spm_infill_writes_the_suffix_first() -> None:
    plain = replace(CODE, extra=())
    limits = replace(WIDE, suffix_first=True)
    assert told(fill_prompt(plain, Bytes(adds_bos=True), limits)) == "<bos><suf>\nend<pre>def f():\n  ret<mid>"


def test_a_model_with_repository_tokens_gets_the_repository_form() -> None:
    vocabulary = Bytes(fim_repository=1004, fim_separator=1005)
    assert told(fill_prompt(CODE, vocabulary, WIDE)) == (
        "<repo>myproject\n<sep>a.py\nx = 1\n<sep>filename\n<pre>def f():\n  ret<suf>\nend<mid>"
    )


def test_without_a_separator_token_other_files_are_set_apart_by_text() -> None:
    assert told(fill_prompt(CODE, Bytes(), WIDE)).startswith("\n\n--- snippet ---\n\nx = 1\n<pre>")


def test_what_does_not_fit_is_cut_far_from_the_cursor() -> None:
    long = InfillRequest("p" * 100 + "P", "S" + "s" * 100, "", (ExtraFile("e" * 500 + "E"),), Generation(max_tokens=8))
    prompt = told(fill_prompt(long, Bytes(), FillLimits(n_batch=40, n_ctx=100)))
    before, _, after = prompt.partition("<pre>")
    assert before == "e" * 43 + "E"
    assert after == "p" * 29 + "P<suf>S" + "s" * 7 + "<mid>"


@pytest.mark.parametrize("missing", ["prefix", "suffix", "middle"])
def test_a_model_that_cannot_fill_in_says_which_token_is_missing(missing: str) -> None:
    with pytest.raises(NotSupported, match=f"{missing} token is missing"):
        fill_prompt(CODE, replace(Bytes(), **{f"fim_{missing}": None}), WIDE)


def test_a_pair_is_set_apart_as_the_tokenizer_does_it() -> None:
    bert = Bytes(adds_bos=True, adds_eos=True)
    assert told(pair_tokens("q", "doc", bert, None)) == "<bos>q<eos>doc<eos>"
    assert told(pair_tokens("q", "doc", replace(bert, adds_sep=True), None)) == "<bos>q<eos><sep>doc<eos>"
    assert told(pair_tokens("q", "doc", replace(bert, eos=None), None)) == "<bos>q<sep>doc<sep>"


def test_a_rerank_template_of_the_file_wins_and_a_query_cannot_smuggle_a_document() -> None:
    template = "Q: {query} D: {document}!"
    assert told(pair_tokens("a {document}", "b {query}", Bytes(), template)) == "Q: a {document} D: b {query}!"
