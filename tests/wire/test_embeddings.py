"""Embedding requests and bodies."""

from __future__ import annotations

import base64
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types import CreateEmbeddingResponse

from ferrox_gguf.errors import FerroxError, InvalidField, MediaNotSupported
from ferrox_gguf.json_types import Json
from ferrox_gguf.request import Prompt
from ferrox_gguf.wire.embeddings import (
    EmbeddingRequest,
    native_body,
    normalized,
    openai_body,
    parse_embeddings,
    shaped,
)


@pytest.mark.parametrize(
    ("given_input", "prompts"),
    [
        ("", [("",)]),
        ("text", [("text",)]),
        ([1, 2, 3], [(1, 2, 3)]),
        ([1, "a", 2], [(1, "a", 2)]),
        (["a", "b"], [("a",), ("b",)]),
        (["a", [1, 2]], [("a",), (1, 2)]),
        ([[1, 2], [3, "x"]], [(1, 2), (3, "x")]),
        ({"prompt_string": "a"}, [("a",)]),
        ({"content": [{"type": "text", "text": "a "}, {"type": "text", "text": "b"}]}, [("a b",)]),
        (["a", {"prompt_string": "b"}], [("a",), ("b",)]),
    ],
)
def test_an_input_is_text_ids_a_mix_or_objects_alone_or_in_a_list(given_input: Json, prompts: list[tuple]) -> None:
    assert parse_embeddings({"input": given_input}).inputs == tuple(Prompt(pieces) for pieces in prompts)


@pytest.mark.parametrize(
    "given_input",
    [[], None, True, 5, [[]], [None], {"content": "text"}, {"content": []}, {"content": [{"type": "unknown"}]}],
)
def test_what_is_no_input_is_refused_by_name(given_input: Json) -> None:
    with pytest.raises(InvalidField, match="input"):
        parse_embeddings({"input": given_input})


def test_an_image_is_refused_by_name() -> None:
    with pytest.raises(MediaNotSupported, match="image"):
        parse_embeddings({"input": {"content": [{"type": "image_url", "image_url": {}}]}})


def test_a_missing_input_and_an_unknown_encoding_are_refused() -> None:
    with pytest.raises(FerroxError, match="required"):
        parse_embeddings({})
    with pytest.raises(InvalidField, match="encoding_format"):
        parse_embeddings({"input": "a", "encoding_format": "hex"})


@given(st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=20))
def test_the_euclidean_norm_is_one_unless_everything_is_zero(row: list[float]) -> None:
    vectors = normalized(np.array([row], np.float32), 2)
    assert np.isclose(np.linalg.norm(vectors.astype(np.float64)), 1.0 if any(row) else 0.0, atol=1e-5)


def test_each_normalisation_is_llama_servers() -> None:
    row = np.array([[3.0, -4.0]], np.float32)
    assert np.array_equal(normalized(row, -1), row)
    assert np.allclose(normalized(row, 0), [[3 * 8190, -32760]])
    assert np.allclose(normalized(row, 1), [[3 / 7, -4 / 7]])
    assert np.allclose(normalized(row, 3), row / math.pow(27 + 64, 1 / 3))


def test_fewer_dimensions_are_cut_first_and_normalised_after() -> None:
    request = EmbeddingRequest((), dimensions=2)
    assert np.allclose(shaped(np.array([[3.0, 4.0, 100.0]], np.float32), request, pooled=True), [[0.6, 0.8]])


def test_base64_holds_the_same_floats_and_the_body_is_the_clients_type() -> None:
    vectors = [np.array([[0.5, -0.25]], np.float32)]
    plain = CreateEmbeddingResponse.model_validate_json(openai_body(vectors, EmbeddingRequest(()), "m", 3))
    assert plain.data[0].embedding == [0.5, -0.25]
    assert plain.usage.prompt_tokens == 3
    coded = json.loads(openai_body(vectors, EmbeddingRequest((), base64=True), "m", 3))
    assert np.frombuffer(base64.b64decode(coded["data"][0]["embedding"]), "<f4").tolist() == [0.5, -0.25]


def test_without_pooling_every_token_has_a_vector_of_its_own_length() -> None:
    vectors = shaped(np.array([[3.0, 4.0], [0.0, 2.0]], np.float32), EmbeddingRequest(()), pooled=False)
    assert json.loads(native_body([vectors])) == [{"index": 0, "embedding": [[3.0, 4.0], [0.0, 2.0]]}]
