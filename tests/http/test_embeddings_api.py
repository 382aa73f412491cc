"""Embeddings over HTTP: llama.cpp's own numbers, whatever the batch, and every shape that clients ask for."""

from __future__ import annotations

import asyncio
import base64
import random
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import pytest
from support.asking import get, openai_client, post
from support.encoder_gguf import write_bert
from support.gguf_vocab import BOS, EOS, byte_tokens
from support.models import scripted_ready
from support.raw_embedding import RawEmbedding
from support.real import EXACT, serving_file
from support.serving import serving
from support.small_gguf import write_dense

from ferrox_gguf.engine.embedder import Embedder
from ferrox_gguf.runtime.embedding import Embeddings, InputLimits
from ferrox_gguf.settings import EmbeddingSettings, EndpointSettings, Settings

READS = EmbeddingSettings(enabled=True)
HI = {"role": "user", "content": "hi"}


def pooled(pooling: str, **fields: object) -> EmbeddingSettings:
    return replace(READS, pooling=pooling, **fields)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dense(tmp_path_factory.mktemp("dense") / "dense.gguf")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("bert") / "bert.gguf")


@pytest.fixture(scope="module")
def bert_url(bert: Path) -> Iterator[str]:
    with serving_file(bert, embedding=READS) as url:
        yield url


def texts(count: int, longest: int = 100) -> list[str]:
    """Inputs of many lengths, so that batches mix short and long."""
    chance = random.Random(3)
    return ["".join(chance.choices("abcdefgh ", k=chance.randint(1, longest))) for _ in range(count)]


def vectors(url: str, inputs: object, **fields: object) -> np.ndarray:
    answer = post(url + "/v1/embeddings", {"input": inputs, **fields})
    assert answer.status_code == 200, answer.text
    data = answer.json()["data"]
    assert [item["index"] for item in data] == list(range(len(data)))
    return np.array([item["embedding"] for item in data], np.float32)


def normal(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
def test_a_llama_embeds_as_llama_cpp_does_whatever_the_batch(dense: Path, pooling: str) -> None:
    inputs = texts(40)
    with closing(RawEmbedding(dense, pooling)) as raw:
        wanted = [normal(raw.embed(byte_tokens(text))[0]) for text in inputs]
    with serving_file(dense, embedding=pooled(pooling)) as url:
        together = vectors(url, inputs)
        with ThreadPoolExecutor(8) as clients:
            apart = np.concatenate(list(clients.map(lambda text: vectors(url, text), inputs)))
    assert np.abs(together - wanted).max() < 1e-5
    assert np.abs(apart - wanted).max() < 1e-5
    assert np.ptp(wanted, axis=0).max() > 0.1


def test_a_bert_embeds_as_llama_cpp_does_whatever_the_batch(bert: Path, bert_url: str) -> None:
    inputs = texts(40)
    with closing(RawEmbedding(bert)) as raw:
        wanted = [normal(raw.embed([BOS, *byte_tokens(text), EOS])[0]) for text in inputs]
    together = vectors(bert_url, inputs)
    apart = np.concatenate([vectors(bert_url, text) for text in inputs[:10]])
    assert np.abs(together - wanted).max() < 1e-4
    assert np.abs(apart - wanted[:10]).max() < 1e-4
    assert np.ptp(wanted, axis=0).max() > 0.1


def test_with_half_precision_cells_it_is_no_further_off_than_llama_cpp_from_itself(dense: Path) -> None:
    """As everybody runs it: two batches of llama.cpp's own already differ, and ours differ no more."""
    inputs = texts(8, longest=15)  # one batch
    ids = [byte_tokens(text) for text in inputs]
    with closing(RawEmbedding(dense, "mean", as_served=True)) as raw:
        alone = np.array([normal(raw.embed(tokens)[0]) for tokens in ids])
        together = np.array([normal(vector) for vector in raw.embed_together(ids)])
    served = replace(EXACT, flash_attention="auto", cache_type_k="f16", cache_type_v="f16")
    with serving_file(dense, embedding=pooled("mean"), context=served) as url:
        found = vectors(url, inputs)
    own = np.abs(together - alone).max()
    assert own > 0
    assert np.abs(found - alone).max() <= own + 1e-6


def test_an_input_longer_than_a_batch_is_read_in_pieces_where_the_last_token_counts(dense: Path) -> None:
    text = texts(1, 1)[0] * 500
    with closing(RawEmbedding(dense, "last")) as raw:
        wanted = normal(raw.embed(byte_tokens(text))[0])
    with serving_file(dense, embedding=pooled("last")) as url:
        assert np.abs(vectors(url, text)[0] - wanted).max() < 1e-5
        short = texts(5)
        assert np.abs(vectors(url, [*short, text])[5] - wanted).max() < 1e-5
        answer = post(url + "/v1/embeddings", {"input": "a" * 1025})
        error = answer.json()["error"]
        assert (answer.status_code, error["type"]) == (400, "exceed_context_size_error")
        assert (error["n_prompt_tokens"], error["n_ctx"]) == (1025, 1024)


def test_without_pooling_each_token_has_its_vector_as_it_is(dense: Path) -> None:
    with closing(RawEmbedding(dense, "none")) as raw:
        wanted = raw.embed(byte_tokens("abc"))
    with serving_file(dense, embedding=pooled("none")) as url:
        for path in ("/embeddings", "/embedding"):
            [one, other] = post(url + path, {"content": ["abc", "b"]}).json()
            assert np.abs(np.array(one["embedding"]) - wanted).max() < 1e-4
            assert (one["index"], other["index"], len(other["embedding"])) == (0, 1, 1)
        refused = post(url + "/v1/embeddings", {"input": "abc"})
        assert refused.status_code == 400
        assert "Pooling type 'none'" in refused.json()["error"]["message"]


def test_an_input_too_long_for_a_micro_batch_is_refused_with_both_numbers(
    bert_url: str,
) -> None:
    answer = post(bert_url + "/v1/embeddings", {"input": ["a", "a" * 500]})
    error = answer.json()["error"]
    assert (answer.status_code, error["type"]) == (500, "server_error")
    assert "input (502 tokens) is too large to process" in error["message"]
    assert "128" in error["message"]
    assert len(vectors(bert_url, "a")) == 1


def test_thousands_of_inputs_in_one_request_come_back_in_order(bert_url: str) -> None:
    inputs = [[3 + number % 250, 3 + number // 250] for number in range(3000)]
    found = vectors(bert_url, inputs)
    assert found.shape == (3000, 64)
    for number in (0, 1234, 2999):
        assert np.abs(found[number] - vectors(bert_url, inputs[number])[0]).max() < 1e-4


def test_the_official_client_reads_floats_base64_and_dimensions(bert_url: str) -> None:
    with openai_client(bert_url) as client:
        # The client asks for base64 by itself and decodes it.
        default = client.embeddings.create(model="m", input=["hello", "world"])
        floats = client.embeddings.create(model="m", input=["hello", "world"], encoding_format="float")
        short = client.embeddings.create(model="m", input="hello", dimensions=8).data[0].embedding
    for one, other in zip(default.data, floats.data, strict=True):
        assert np.abs(np.array(one.embedding) - other.embedding).max() < 1e-6
        assert not one.model_extra
    assert default.usage.prompt_tokens == default.usage.total_tokens == 2 * 7
    assert not default.model_extra
    assert len(short) == 8
    assert np.linalg.norm(short) == pytest.approx(1, abs=1e-5)
    raw = post(bert_url + "/v1/embeddings", {"input": "hello", "encoding_format": "base64"}).json()
    numbers = np.frombuffer(base64.b64decode(raw["data"][0]["embedding"]), "<f4")
    assert np.abs(numbers - floats.data[0].embedding).max() < 1e-6


@pytest.mark.parametrize(("mode", "size"), [(2, lambda v: np.sqrt((v * v).sum())), (1, lambda v: np.abs(v).sum())])
def test_the_length_is_the_flags_or_the_requests(bert: Path, mode: int, size: object) -> None:
    with serving_file(bert, embedding=replace(READS, normalize=mode)) as url:
        assert size(vectors(url, "abc")[0]) == pytest.approx(1, abs=1e-4)  # type: ignore[operator]
        largest = np.abs(vectors(url, "abc", embd_normalize=0)[0]).max()
        assert largest == pytest.approx(32760, rel=1e-5)
        as_it_is = vectors(url, "abc", embd_normalize=-1)[0]
        assert np.abs(normal(as_it_is) - normal(vectors(url, "abc")[0])).max() < 1e-5
        assert np.linalg.norm(as_it_is) > 2


@pytest.mark.parametrize("given", ["abc", byte_tokens("abc"), ["abc", byte_tokens("abc")], {"prompt_string": "abc"}])
def test_text_ids_and_objects_are_inputs(bert_url: str, given: object) -> None:
    assert vectors(bert_url, given).shape[1] == 64


def test_an_id_outside_the_vocabulary_and_an_empty_list_are_refused_by_name(bert_url: str) -> None:
    for given, named in (([99999], "99999"), ([], "input"), ([["a", 5.5]], "input")):
        answer = post(bert_url + "/v1/embeddings", {"input": given})
        assert answer.status_code == 400
        assert named in answer.json()["error"]["message"]


def test_an_empty_text_is_its_end_tokens_or_refused_where_there_are_none(bert_url: str, tmp_path: Path) -> None:
    assert vectors(bert_url, "").shape == (1, 64)
    with serving_file(write_bert(tmp_path / "bare.gguf", pad=False), embedding=READS) as url:
        assert post(url + "/v1/embeddings", {"input": ["a", ""]}).status_code == 400


def test_an_encoder_says_that_it_cannot_generate_and_lives_on(bert_url: str) -> None:
    for path, body in (("/completion", {"prompt": "hi"}), ("/v1/chat/completions", {"messages": [HI]})):
        answer = post(bert_url + path, body)
        assert answer.status_code == 500
        assert "does not support logits computation" in answer.json()["error"]["message"]
    assert get(bert_url + "/health").status_code == 200
    assert len(get(bert_url + "/slots").json()) == EXACT.n_parallel
    assert len(vectors(bert_url, "still there")) == 1


def test_a_decoder_embeds_and_generates_side_by_side(dense: Path) -> None:
    with serving_file(dense, embedding=pooled("mean")) as url:
        body = {"prompt": "hello", "n_predict": 4, "temperature": 0}
        before = post(url + "/completion", body).json()["content"]
        with ThreadPoolExecutor(4) as clients:
            asked = [clients.submit(post, url + "/completion", body) for _ in range(4)]
            assert vectors(url, texts(30)).shape == (30, 64)
            assert {answer.result().json()["content"] for answer in asked} == {before}


def test_what_was_read_is_counted_among_the_prompts(bert: Path) -> None:
    metrics = replace(Settings().server, endpoints=EndpointSettings(metrics=True))
    with serving_file(bert, embedding=READS, server=metrics) as url:
        vectors(url, ["abc", "de"])
        page = get(url + "/metrics").text
    assert "llamacpp:prompt_tokens_total 9.0" in page  # and the tokens around each
    assert "llamacpp:n_decode_total 1.0" in page
    assert "llamacpp:requests_deferred 0.0" in page


def test_a_server_that_was_not_started_for_embeddings_says_so() -> None:
    with serving(lambda: scripted_ready(b"x")) as url:
        for path in ("/v1/embeddings", "/embeddings", "/embedding", "/rerank", "/v1/reranking"):
            answer = post(url + path, {"input": "a", "query": "q", "documents": ["d"]})
            assert (answer.status_code, answer.json()["error"]["type"]) == (501, "not_supported_error")
            assert ("--reranking" if "rank" in path else "--embeddings") in answer.json()["error"]["message"]


class SlowContext:
    """Reads one input at a time, at leisure, and counts."""

    n_tokens = longest = 100
    n_inputs = 1

    def __init__(self) -> None:
        self.read = 0
        self.begun = threading.Event()

    def embed(self, inputs: Sequence[Sequence[int]]) -> list[np.ndarray]:
        self.read += len(inputs)
        self.begun.set()
        time.sleep(0.01)
        return [np.ones((1, 4), np.float32) for _ in inputs]


def test_a_client_that_leaves_takes_its_inputs_with_it() -> None:
    context = SlowContext()
    embedder = Embedder(context)
    embedder.start()
    ready = scripted_ready(b"x")
    limits = InputLimits(context=100, batch=100)
    ready.embeddings = Embeddings(embedder, ready.model.vocabulary, limits, pooled=True, ranks=False)

    async def leave_once_it_is_read(url: str) -> None:
        async with httpx.AsyncClient(verify=False, timeout=60) as client:
            asked = asyncio.create_task(client.post(url + "/v1/embeddings", json={"input": ["a"] * 5000}))
            await asyncio.to_thread(context.begun.wait, 60)
            asked.cancel()

    with serving(lambda: ready) as url:
        asyncio.run(asyncio.wait_for(leave_once_it_is_read(url), 60))
        assert vectors(url, "next").shape == (1, 4), "it waits for no more than the inputs that were being read"
        after = context.read
        assert after < 2500
        time.sleep(0.1)
        assert context.read == after
    embedder.stop()
