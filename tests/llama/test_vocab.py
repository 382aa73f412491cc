"""The vocabulary: text to ids and back, and ids that would end the process."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.exact import exact
from support.gguf_vocab import BOS, EOS, byte_tokens
from support.scripted_gguf import write_scripted_gguf

from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.llama.vocab import Vocab


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\N{LOWER ONE EIGHTH BLOCK}")))
def test_text_comes_back_from_its_tokens(dense: LoadedModel, text: str) -> None:
    tokens = dense.vocab.tokenize(text, add_special=False, parse_special=False)
    assert dense.vocab.detokenize(tokens).decode() == text


def test_lone_surrogates_are_replaced(dense: LoadedModel) -> None:
    assert dense.vocab.tokenize("a\ud800b", add_special=False, parse_special=False) == byte_tokens("a?b")


@pytest.mark.parametrize("token", [-1, -(2**31), 2**31 - 1, 100_000])
def test_an_id_out_of_range_is_refused_before_llama_cpp_sees_it(dense: LoadedModel, token: int) -> None:
    vocab = dense.vocab
    for ask in (vocab.piece, vocab.attribute, vocab.is_end, vocab.is_control):
        with pytest.raises(ValueError, match="token id"):
            ask(token)
    with pytest.raises(ValueError, match="token ids"):
        vocab.require([0, token])
    assert token not in vocab


def test_read_all_says_of_every_token_what_asking_for_it_says(tmp_path: Path) -> None:
    write_scripted_gguf(tmp_path / "m.gguf", script=["hi"], start=1, control=["<|im_end|>", "<" + 90 * "x" + ">"])
    loaded = LoadedModel.load(exact(tmp_path / "m.gguf"))
    vocab = loaded.vocab
    one_by_one = [(vocab.piece(token), int(vocab.attribute(token))) for token in range(vocab.n_tokens)]
    assert list(vocab.read_all()) == one_by_one
    assert max(len(piece) for piece, _ in one_by_one) == 92
    loaded.close()


def test_special_tokens_are_known_by_what_they_are(tmp_path: Path) -> None:
    write_scripted_gguf(
        tmp_path / "m.gguf",
        script=["hi there"],
        start=1,
        control=["<|im_end|>", "<think>"],
        user_defined=["<tool>"],
    )
    loaded = LoadedModel.load(exact(tmp_path / "m.gguf"))
    vocab = loaded.vocab
    think, tool, end = vocab.token_of("<think>"), vocab.token_of("<tool>"), vocab.token_of("<|im_end|>")
    assert think is not None
    assert tool is not None
    assert end is not None
    assert (vocab.is_control(think), vocab.is_user_defined(tool)) == (True, True)
    assert vocab.end_tokens == {EOS, end}
    assert (vocab.bos, vocab.eos, vocab.fim_prefix) == (BOS, EOS, None)
    assert vocab.piece(think) == b"<think>"
    assert vocab.piece(think, special=False) == b""
    assert vocab.token_of("<nothing>") is None
    assert vocab.token_of("a") is None
    assert vocab.tokenize("<think>", add_special=False, parse_special=True) == [think]
    assert vocab.tokenize("<think>", add_special=False, parse_special=False) == byte_tokens("<think>")
    loaded.close()


def test_adding_special_tokens_puts_bos_first(tmp_path: Path) -> None:
    from support.small_gguf import write_dense

    loaded = LoadedModel.load(exact(write_dense(tmp_path / "bos.gguf", add_bos=True)))
    assert loaded.vocab.adds_bos
    assert loaded.vocab.tokenize("a", add_special=True, parse_special=True) == [BOS, *byte_tokens("a")]
    loaded.close()


def test_end_tokens_are_found_once(dense: LoadedModel) -> None:
    assert isinstance(dense.vocab, Vocab)
    assert dense.vocab.end_tokens is dense.vocab.end_tokens
