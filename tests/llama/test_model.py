"""Loading: facts of a model, and one clear line for every file that is not one."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.small_gguf import WINDOW, write_dense

from ferrox_gguf.errors import GgufError, StartupError
from ferrox_gguf.llama.context import context_sizes
from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.llama.model import LoadCancelled, Model
from ferrox_gguf.llama.options import ModelOptions


def test_a_missing_file_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(GgufError, match="no such file"):
        Model.load(ModelOptions(str(tmp_path / "nothing.gguf")))


def test_a_folder_is_not_a_model(tmp_path: Path) -> None:
    with pytest.raises(GgufError, match="directory"):
        Model.load(ModelOptions(str(tmp_path)))


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(GgufError, match="not a GGUF"):
        Model.load(ModelOptions(str(other)))


@pytest.mark.parametrize("share", [0.001, 0.3, 0.9, 0.99])
def test_a_truncated_file_is_refused(tmp_path: Path, share: float) -> None:
    whole = write_dense(tmp_path / "whole.gguf").read_bytes()
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(GgufError) as raised:
        Model.load(ModelOptions(str(cut)))
    assert "\n" not in str(raised.value)
    assert str(cut) in str(raised.value)


def test_loading_reports_progress_and_can_be_cancelled(tmp_path: Path) -> None:
    path = str(write_dense(tmp_path / "dense.gguf"))
    seen: list[float] = []
    model = Model.load(ModelOptions(path), lambda fraction: seen.append(fraction) or True)
    model.close()
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    with pytest.raises(LoadCancelled):
        Model.load(ModelOptions(path), lambda fraction: False)


def test_the_model_knows_its_facts(dense: LoadedModel, sliding: LoadedModel, recurrent: LoadedModel) -> None:
    assert dense.model.n_ctx_train == 2048
    assert dense.model.n_embd == 64
    assert dense.model.architecture == "llama"
    assert dense.model.meta("general.name") == "small-dense"
    assert dense.model.meta("no.such.key") is None
    assert dense.model.metadata()["llama.block_count"] == "2"
    assert dense.model.chat_template() is None
    assert sliding.model.n_swa == WINDOW
    assert recurrent.model.is_recurrent
    assert not dense.model.is_recurrent


def test_a_context_that_cannot_be_made_is_said_in_one_line(tmp_path: Path) -> None:
    path = str(write_dense(tmp_path / "dense.gguf"))
    with pytest.raises(StartupError, match="a context of") as raised:
        LoadedModel.load(ModelOptions(path, n_ctx=2**31 - 256))
    assert "\n" not in str(raised.value)


def test_a_metadata_override_replaces_what_the_file_says(tmp_path: Path) -> None:
    path = str(write_dense(tmp_path / "dense.gguf"))
    model = Model.load(ModelOptions(path, override_kv=(("llama.context_length", 512),)))
    assert model.n_ctx_train == 512
    model.close()


@pytest.mark.parametrize(
    ("options", "cells_and_limit"),
    [
        (ModelOptions("m"), (2048, 2048)),
        (ModelOptions("m", n_ctx=4096), (4096, 2048)),
        (ModelOptions("m", n_ctx=1000), (1024, 1024)),
        (ModelOptions("m", n_ctx=1024, n_parallel=2), (1024, 512)),
        (ModelOptions("m", n_ctx=256, n_parallel=4), (1024, 256)),
        (ModelOptions("m", n_ctx=1024, n_parallel=2, kv_unified=True), (1024, 1024)),
        (ModelOptions("m", n_ctx=1024, kv_unified=False), (1024, 256)),
        (ModelOptions("m", n_ctx_per_slot=512, n_parallel=2, kv_unified=True), (1024, 512)),
        (ModelOptions("m", n_ctx=1024, n_ctx_per_slot=300), (1024, 300)),
    ],
)
def test_slots_share_or_divide_the_context_as_llama_server_does(
    options: ModelOptions, cells_and_limit: tuple[int, int]
) -> None:
    assert context_sizes(options, n_ctx_train=2048) == cells_and_limit
