"""Small real models, loaded once a session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.exact import exact
from support.small_gguf import write_dense, write_hybrid, write_recurrent, write_sliding

from ferrox_gguf.llama.loaded import LoadedModel


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def dense(model_folder: Path) -> Iterator[LoadedModel]:
    loaded = LoadedModel.load(exact(write_dense(model_folder / "dense.gguf")))
    yield loaded
    loaded.close()


@pytest.fixture(scope="session")
def dense_apart(model_folder: Path) -> Iterator[LoadedModel]:
    """The same, with a cache for each slot."""
    loaded = LoadedModel.load(exact(write_dense(model_folder / "dense.gguf"), n_ctx=4096, kv_unified=False))
    yield loaded
    loaded.close()


@pytest.fixture(scope="session")
def sliding(model_folder: Path) -> Iterator[LoadedModel]:
    loaded = LoadedModel.load(exact(write_sliding(model_folder / "sliding.gguf")))
    yield loaded
    loaded.close()


@pytest.fixture(scope="session")
def hybrid(model_folder: Path) -> Iterator[LoadedModel]:
    loaded = LoadedModel.load(exact(write_hybrid(model_folder / "hybrid.gguf")))
    yield loaded
    loaded.close()


@pytest.fixture(scope="session")
def recurrent(model_folder: Path) -> Iterator[LoadedModel]:
    loaded = LoadedModel.load(exact(write_recurrent(model_folder / "recurrent.gguf")))
    yield loaded
    loaded.close()
