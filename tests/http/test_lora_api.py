"""LoRA adapters and control vectors over HTTP, on a real model, by effects on the logits that are known beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader
from support.asking import get, post
from support.gguf_vocab import FIRST_BYTE, byte_tokens
from support.lora_gguf import write_control_vector, write_lora, write_token_lora
from support.raw_embedding import RawEmbedding
from support.real import EXACT, serving_file
from support.small_gguf import write_dense

from ferrox_gguf.errors import GgufError
from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.runtime.options import model_options
from ferrox_gguf.settings import Adapter, AdapterSettings, EmbeddingSettings, ModelSettings, Settings

PROMPT = "An adapter changes what is said"
LETTER = FIRST_BYTE + ord("x")
DIRECTION = np.linspace(-1, 1, 64)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lora")
    write_dense(folder / "dense.gguf")
    write_token_lora(folder / "letter.gguf", LETTER, DIRECTION, n_vocab=260)
    write_lora(folder / "deep.gguf")
    return folder


def adapted(
    folder: Path, letter: float = 1.0, deep: float = 0.0, apply: bool = True, **changes: object
) -> AbstractContextManager[str]:
    lora = (Adapter(str(folder / "letter.gguf"), letter), Adapter(str(folder / "deep.gguf"), deep))
    return serving_file(folder / "dense.gguf", adapters=AdapterSettings(lora=lora, lora_apply=apply), **changes)


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    with adapted(folder, letter=0.0) as url:
        yield url


def first(url: str, **fields: object) -> np.ndarray:
    """The log-probabilities of what may be said first, by token."""
    body = {"prompt": PROMPT, "n_predict": 1, "n_probs": 260, "temperature": 0, **fields}
    answer = post(url + "/completion", body)
    assert answer.status_code == 200, answer.text
    [said] = answer.json()["completion_probabilities"]
    found = np.full(260, np.nan)
    for one in said["top_logprobs"]:
        found[one["id"]] = one["logprob"]
    assert not np.isnan(found).any()
    return found


def letter(scale: float) -> dict:
    return {"lora": [{"id": 0, "scale": scale}]}


def known_effect(folder: Path) -> float:
    """What the adapter adds to its letter's logit at scale 1, from the hidden state as llama.cpp itself has it."""
    with closing(RawEmbedding(folder / "dense.gguf", "none")) as raw:
        return float(raw.embed(byte_tokens(PROMPT))[-1] @ DIRECTION)


@pytest.mark.parametrize("scale", [1.0, 0.5, -2.0])
def test_a_requests_scale_moves_the_logits_by_what_the_adapter_says(url: str, folder: Path, scale: float) -> None:
    plain, moved = first(url), first(url, **letter(scale))
    effect = known_effect(folder)
    assert abs(effect) > 1
    others = np.delete(np.arange(260), LETTER)
    # Log-probabilities are logits less one number, which is the same for all tokens.
    shift = moved[others] - plain[others]
    assert np.ptp(shift) < 1e-3
    assert moved[LETTER] - plain[LETTER] - shift[0] == pytest.approx(scale * effect, abs=1e-3)


def test_adapters_are_listed_and_applied_to_everyone(url: str, folder: Path) -> None:
    before = get(url + "/lora-adapters").json()
    assert [(one["id"], one["scale"]) for one in before] == [(0, 0.0), (1, 0.0)]
    assert before[0]["path"].endswith("letter.gguf")
    assert {"task_name", "prompt_prefix"} <= before[0].keys()
    plain, asked = first(url), first(url, **letter(1.0))
    try:
        assert post(url + "/lora-adapters", [{"id": 0, "scale": 1.0}]).json() == {"success": True}
        assert [one["scale"] for one in get(url + "/lora-adapters").json()] == [1.0, 0.0]
        assert np.abs(first(url) - asked).max() < 1e-3
        assert np.abs(first(url, **letter(0.0)) - plain).max() < 1e-3
        assert np.abs(first(url, lora=[]) - plain).max() < 1e-3
    finally:
        post(url + "/lora-adapters", [])
    assert np.abs(first(url) - plain).max() < 1e-3


def test_requests_with_different_adapters_at_once_say_what_they_say_alone(url: str) -> None:
    sets = [
        [],
        [{"id": 1, "scale": 1.0}],
        [{"id": 1, "scale": 0.5}],
        [{"id": 0, "scale": 1.0}, {"id": 1, "scale": 1.0}],
    ]
    alone = [first(url, lora=lora, cache_prompt=False) for lora in sets]
    with ThreadPoolExecutor(8) as clients:
        together = list(clients.map(lambda lora: first(url, lora=lora), sets * 2))
    for at, said in enumerate(together):
        assert np.abs(said - alone[at % 4]).max() < 1e-3
    assert min(np.abs(one - alone[0]).max() for one in alone[1:]) > 0.1


def test_cached_cells_serve_only_the_set_that_read_them(url: str) -> None:
    # No other test of this server begins like this, so nothing of it is held by anybody.
    prompt = "Only here: " + PROMPT

    def cached(lora: list) -> int:
        body = {"prompt": prompt, "n_predict": 1, "lora": lora}
        return post(url + "/completion", body).json()["timings"]["cache_n"]

    deep = [{"id": 1, "scale": 1.0}]
    assert cached([]) == 0
    assert cached([]) == len(prompt) - 1
    assert cached(deep) == 0
    assert cached([*deep, {"id": 0, "scale": 0.0}]) == len(prompt) - 1  # the same set, spelled otherwise


def test_the_flags_scale_applies_from_the_start_unless_told_otherwise(folder: Path, url: str) -> None:
    wanted = first(url, **letter(0.5))
    with adapted(folder, letter=0.5) as scaled:
        assert np.abs(first(scaled) - wanted).max() < 1e-3
    with adapted(folder, letter=0.5, apply=False) as idle:
        assert [one["scale"] for one in get(idle + "/lora-adapters").json()] == [0.0, 0.0]
        assert np.abs(first(idle) - first(url)).max() < 1e-3


def test_adapters_apply_to_embeddings_too(folder: Path) -> None:
    embedding = EmbeddingSettings(enabled=True, pooling="mean")

    def vector(url: str) -> np.ndarray:
        return np.array(post(url + "/v1/embeddings", {"input": PROMPT}).json()["data"][0]["embedding"])

    with adapted(folder, deep=1.0, embedding=embedding) as url:
        adapted_vector = vector(url)
        post(url + "/lora-adapters", [])
        plain = vector(url)
        post(url + "/lora-adapters", [{"id": 1, "scale": 1.0}])
        assert np.abs(vector(url) - adapted_vector).max() < 1e-5
    assert np.abs(plain - adapted_vector).max() > 0.01


@pytest.mark.parametrize(
    ("body", "named"),
    [({}, "array"), ([5], "lora"), ([{"id": 0}], "lora"), ([{"id": 7, "scale": 1}], "there is no adapter 7")],
)
def test_a_wrong_list_is_refused_and_changes_nothing(url: str, body: object, named: str) -> None:
    answer = post(url + "/lora-adapters", body)
    assert answer.status_code == 400
    assert named in answer.json()["error"]["message"]
    assert [one["scale"] for one in get(url + "/lora-adapters").json()] == [0.0, 0.0]


def test_a_request_for_an_adapter_that_is_not_loaded_is_refused_by_number(url: str) -> None:
    answer = post(url + "/completion", {"prompt": "a", "lora": [{"id": 9, "scale": 1}]})
    assert answer.status_code == 400
    assert "there is no adapter 9" in answer.json()["error"]["message"]


def test_a_control_vector_turns_the_last_hidden_state_into_its_direction(folder: Path, tmp_path: Path) -> None:
    """So far into one direction that nothing else is left: the logits are then that column of the output matrix."""
    vector = write_control_vector(tmp_path / "vector.gguf", 1, 1e4 * np.eye(64)[3])
    adapters = AdapterSettings(control_vectors=(Adapter(str(vector), 2.0),))
    with serving_file(folder / "dense.gguf", adapters=adapters) as url:
        steered = first(url)
    [output] = [tensor.data for tensor in GGUFReader(folder / "dense.gguf").tensors if tensor.name == "output.weight"]
    logits = np.sqrt(64) * output[:, 3]
    assert np.abs((steered - steered[0]) - (logits - logits[0])).max() < 0.05
    only_first = replace(adapters, control_vector_layers=(2, 2))
    with serving_file(folder / "dense.gguf", adapters=only_first) as url:
        assert np.abs(first(url) - steered).max() > 0.1


@pytest.mark.parametrize("width", [32, 0])
def test_a_file_that_is_no_control_vector_for_this_model_is_refused_in_one_line(
    folder: Path, tmp_path: Path, width: int
) -> None:
    path = write_control_vector(tmp_path / "v.gguf", 1, np.ones(width)) if width else folder / "letter.gguf"
    settings = replace(
        Settings(),
        model=replace(ModelSettings(), path=str(folder / "dense.gguf")),
        context=EXACT,
        adapters=AdapterSettings(control_vectors=(Adapter(str(path)),)),
    )
    with pytest.raises(GgufError, match=path.name):
        LoadedModel.load(model_options(settings))
