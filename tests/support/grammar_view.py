"""A real llama.cpp vocabulary, as grammars see it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from llguidance import LLTokenizer
from support.scripted_gguf import write_scripted_gguf

from ferrox_gguf.grammar.compiler import GrammarCompiler
from ferrox_gguf.llama.guidance import build_tokenizer
from ferrox_gguf.llama.model import Model
from ferrox_gguf.llama.options import ModelOptions
from ferrox_gguf.llama.vocab import Vocab

PIECES = (" ", "{", '"', '":', ": ", "}</", "\n\n", "think>{", '": "', "ab")


@dataclass(frozen=True)
class View:
    """The vocabulary with a compiler over it: bytes, a few longer pieces, and `<tool_call>` as one special token."""

    vocab: Vocab
    tokenizer: LLTokenizer
    compiler: GrammarCompiler

    def ids(self, text: str, *, special: bool = True) -> list[int]:
        return self.vocab.tokenize(text, add_special=False, parse_special=special)


@contextlib.contextmanager
def open_view(path: Path, *, control: Sequence[str] = (), pieces: Sequence[str] = ()) -> Iterator[View]:
    """A vocabulary of bytes, a few longer pieces, and `control` as special tokens."""
    write_scripted_gguf(path, script=[*PIECES, *pieces], start=1, control=control)
    model = Model.load(ModelOptions(path=str(path)))
    vocab = Vocab(model)
    assert vocab.eos is not None
    tokenizer = build_tokenizer(vocab, [vocab.eos])
    yield View(vocab, tokenizer, GrammarCompiler(tokenizer))
    model.close()


@pytest.fixture(scope="session")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[View]:
    path = tmp_path_factory.mktemp("grammar") / "vocab.gguf"
    with open_view(path, control=["<tool_call>", "</tool_call>", "</think>"]) as opened:
        yield opened
