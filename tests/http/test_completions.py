"""Raw prompts over real HTTP, with a scripted model: both dialects, streamed and not, and every way to go wrong."""

import json
import socket
import time
from dataclasses import replace

import httpx
import openai
import pytest
from support.models import scripted_ready
from support.scripted import ByteVocabulary
from support.serving import serving

from ferrox_gguf.settings import EndpointSettings, ServerSettings, Settings

HELLO = b"Hello, world!"


def answering(script=HELLO, settings=None, **fields):
    """A server whose model says the script, and the engine behind it."""
    ready = []

    def make():
        ready.append(scripted_ready(script, settings=settings, **fields))
        return ready[0]

    return serving(make, settings), ready


def with_server(**fields):
    return replace(Settings(), server=replace(ServerSettings(), **fields))


@pytest.fixture(scope="module")
def url():
    context, _ = answering()
    with context as url:
        yield url


def frames(text):
    return [json.loads(line[6:]) for line in text.split("\n\n") if line.startswith("data: {")]


def test_a_native_completion_streams_what_it_answers(url):
    whole = httpx.post(url + "/completion", json={"prompt": "hi"}).json()
    streamed = frames(httpx.post(url + "/completion", json={"prompt": "hi", "stream": True}).text)
    assert whole["content"] == HELLO.decode() == "".join(frame["content"] for frame in streamed)
    assert {frame["id_slot"] for frame in streamed} == {0}
    assert streamed[-1]["stop_type"] == whole["stop_type"] == "eos"
    assert (whole["tokens_evaluated"], whole["prompt"]) == (3, "<s>hi")


def test_the_openai_client_completes_streamed_and_not(url):
    with openai.OpenAI(base_url=url + "/v1", api_key="none") as client:
        whole = client.completions.create(model="m", prompt="hi", max_tokens=5)
        chunks = list(client.completions.create(model="m", prompt="hi", stream=True))
    assert (whole.choices[0].text, whole.choices[0].finish_reason) == ("Hello", "length")
    assert whole.usage is not None
    assert (whole.usage.prompt_tokens, whole.usage.completion_tokens) == (3, 5)
    assert "".join(chunk.choices[0].text for chunk in chunks) == HELLO.decode()
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_several_prompts_and_several_answers_have_an_index_each(url):
    answers = httpx.post(url + "/completion", json={"prompt": ["a", [98, 99]], "n": 2}).json()
    assert [answer["index"] for answer in answers] == [0, 1, 2, 3]
    assert [answer["prompt"] for answer in answers] == ["<s>a", "<s>a", "bc", "bc"]


def test_text_and_ids_may_be_mixed_in_one_prompt(url):
    assert httpx.post(url + "/completion", json={"prompt": [97, "b", 99]}).json()["prompt"] == "abc"


def test_an_id_outside_the_vocabulary_is_refused(url):
    answer = httpx.post(url + "/completion", json={"prompt": [999]})
    assert answer.status_code == 400
    assert "prompt" in answer.json()["error"]["message"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_stop_string_over_several_tokens_is_never_shown(url, stream):
    body = {"prompt": "hi", "stop": ["lo, w"], "stream": stream}
    answer = httpx.post(url + "/completion", json=body)
    last = frames(answer.text)[-1] if stream else answer.json()
    content = "".join(frame["content"] for frame in frames(answer.text)) if stream else last["content"]
    assert content == "Hel"
    assert (last["stop_type"], last["stopping_word"]) == ("word", "lo, w")
    assert last["tokens_predicted"] == len("Hello, w")


@pytest.mark.parametrize("stream", [False, True])
def test_a_limit_of_nothing_reads_the_prompt_and_says_nothing(url, stream):
    answer = httpx.post(url + "/completion", json={"prompt": "hi", "n_predict": 0, "stream": stream})
    last = frames(answer.text)[-1] if stream else answer.json()
    assert (last["content"], last["tokens_predicted"], last["stop_type"]) == ("", 0, "limit")


def test_a_character_spread_over_tokens_comes_whole():
    context, _ = answering("päß🦀".encode())
    with context as url:
        streamed = frames(httpx.post(url + "/completion", json={"prompt": "hi", "stream": True}).text)
        assert [frame["content"] for frame in streamed if frame["content"]] == ["p", "ä", "ß", "🦀"]
        cut = httpx.post(url + "/completion", json={"prompt": "hi", "n_predict": 2}).json()
        assert cut["content"] == "p"


def test_a_prompt_that_is_too_long_is_refused_with_both_numbers_streamed_or_not():
    context, _ = answering(n_ctx=8)
    with context as url:
        for stream in (False, True):
            answer = httpx.post(url + "/completion", json={"prompt": "0123456789", "stream": stream})
            error = answer.json()["error"]
            assert (answer.status_code, error["type"]) == (400, "exceed_context_size_error")
            assert (error["n_prompt_tokens"], error["n_ctx"]) == (11, 8)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "prompt"),
        ({"prompt": 5}, "prompt"),
        ({"prompt": []}, "prompt"),
        ({"prompt": "hi", "top_p": 2}, "top_p"),
        ({"prompt": "hi", "stream": "yes"}, "stream"),
        ({"prompt": "hi", "n": 99}, "n"),
    ],
)
def test_a_wrong_field_is_a_400_that_names_it(url, body, named):
    answer = httpx.post(url + "/completion", json=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["type"]) == (400, "invalid_request_error")
    assert f"'{named}'" in error["message"]


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/x-www-form-urlencoded", None])
def test_the_content_type_does_not_matter(url, content_type):
    headers = {"content-type": content_type} if content_type else {}
    answer = httpx.post(url + "/completion", content=b'{"prompt":"hi","n_predict":1}', headers=headers)
    assert answer.json()["content"] == "H"


@pytest.mark.parametrize(("method", "path"), [("GET", "/nothing"), ("POST", "/health"), ("GET", "/completion")])
def test_an_unknown_route_or_method_is_a_404(url, method, path):
    answer = httpx.request(method, url + path)
    assert answer.status_code == 404
    assert answer.json() == {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}


def test_tokens_go_there_and_back(url):
    tokens = httpx.post(url + "/tokenize", json={"content": "aä"}).json()["tokens"]
    assert tokens == [97, 0xC3, 0xA4]
    assert httpx.post(url + "/detokenize", json={"tokens": tokens}).json() == {"content": "aä"}
    with_bos = httpx.post(url + "/tokenize", json={"content": "a", "add_special": True}).json()["tokens"]
    assert with_bos == [256, 97]
    pieces = httpx.post(url + "/tokenize", json={"content": "aä", "with_pieces": True}).json()["tokens"]
    assert [piece["piece"] for piece in pieces] == ["a", [0xC3], [0xA4]]


def test_health_props_and_models_describe_the_server(url):
    assert httpx.get(url + "/health").json() == httpx.get(url + "/v1/health").json() == {"status": "ok"}
    props = httpx.get(url + "/props").json()
    assert (props["total_slots"], props["default_generation_settings"]["n_ctx"]) == (4, 4096)
    assert props["posture"]["reasoning_protocol"] == "none"
    assert httpx.get(url + "/v1/models").json()["data"][0]["id"] == "scripted"
    with openai.OpenAI(base_url=url + "/v1", api_key="none") as client:
        assert client.models.list().data[0].id == "scripted"


def test_slots_can_be_hidden(url):
    idle = {"n_ctx": 4096, "speculative": False, "is_processing": False}
    assert httpx.get(url + "/slots").json() == [{"id": slot, **idle} for slot in range(4)]
    context, _ = answering(settings=with_server(endpoints=EndpointSettings(slots=False)))
    with context as hidden:
        answer = httpx.get(hidden + "/slots")
        assert (answer.status_code, answer.json()["error"]["type"]) == (501, "not_supported_error")


@pytest.mark.parametrize("header", [{"authorization": "Bearer key2"}, {"x-api-key": "key2"}, {"authorization": "key2"}])
def test_any_of_the_keys_opens_the_door(header):
    context, _ = answering(settings=with_server(api_keys=("key1", "key2")))
    with context as url:
        assert httpx.post(url + "/completion", json={"prompt": "hi"}, headers=header).status_code == 200


@pytest.mark.parametrize("header", [{}, {"authorization": "Bearer key"}, {"x-api-key": "key11"}, {"x-api-key": ""}])
def test_without_a_key_only_public_routes_answer(header):
    context, _ = answering(settings=with_server(api_keys=("key1",)))
    with context as url:
        answer = httpx.post(url + "/completion", json={"prompt": "hi"}, headers=header)
        assert answer.status_code == 401
        assert answer.json()["error"] == {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}
        assert httpx.get(url + "/nothing", headers=header).status_code == 401
        assert httpx.get(url + "/health", headers=header).status_code == 200


def test_a_browser_is_told_that_it_may_ask(url):
    headers = {"origin": "http://page", "access-control-request-method": "POST"}
    answer = httpx.options(url + "/completion", headers=headers)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "http://page"
    assert answer.headers["access-control-allow-methods"] == "GET, POST, DELETE, OPTIONS"
    assert httpx.get(url + "/health", headers=headers).headers["access-control-allow-origin"] == "http://page"


def slow_model():
    """A model that never ends by itself, and a place to see whether it was cancelled."""

    def script(request):
        while True:
            yield 97

    return answering(script)


def cancelled(ready, within=2.0):
    until = time.monotonic() + within
    while time.monotonic() < until:
        if ready[0].model.engine.cancelled:
            return True
        time.sleep(0.01)
    return False


def test_a_client_that_leaves_a_stream_cancels_it():
    context, ready = slow_model()
    with context as url:
        ready[0].model.engine.pause = 0.001
        with httpx.stream("POST", url + "/completion", json={"prompt": "hi", "stream": True}) as answer:
            next(answer.iter_raw())
        assert cancelled(ready)


def test_a_client_that_leaves_without_a_stream_cancels_too():
    context, ready = slow_model()
    with context as url:
        ready[0].model.engine.pause = 0.001
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(url + "/completion", json={"prompt": "hi"}, timeout=0.2)
        assert cancelled(ready)


def test_a_client_that_does_not_read_costs_nothing_and_loses_nothing():
    length = 120_000

    def script(request):
        return [97] * length

    context, ready = answering(script, n_ctx=10**9)
    with context as url:
        ready[0].model.engine.burst = 50
        host, port = url.removeprefix("http://").split(":")
        body = b'{"prompt":"hi","stream":true}'
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(
                b"POST /completion HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s"
                % (len(body), body)
            )
            # The engine has said everything before the client reads a byte.
            while not ready[0].model.engine.done(0):
                time.sleep(0.05)
            assert httpx.get(url + "/health", timeout=5).status_code == 200
            received = b"".join(iter(lambda: connection.recv(1 << 20), b""))
        text = b"".join(chunk for chunk in dechunked(received)).decode()
        streamed = frames(text)
        assert sum(len(frame["content"]) for frame in streamed) == length
        assert sum(len(frame["tokens"]) for frame in streamed) == length
        # Frames were merged: far fewer than one for each token.
        assert len(streamed) < length


def dechunked(raw):
    rest = raw[raw.index(b"\r\n\r\n") + 4 :]
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        yield rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]


def test_a_silent_stream_is_kept_alive_by_comments():
    context, ready = slow_model()
    with context as url:
        ready[0].model.engine.pause = 2.2
        body = {"prompt": "hi", "stream": True, "n_predict": 1, "sse_ping_interval": 1}
        text = httpx.post(url + "/completion", json=body, timeout=10).text
        assert text.startswith(":\n\n:\n\ndata: ")


def test_a_control_token_is_not_text():
    vocabulary = ByteVocabulary(control=["<mark>"])
    context, _ = answering(vocabulary.ids("a", "<mark>", "b"), vocabulary=vocabulary)
    with context as url:
        assert httpx.post(url + "/completion", json={"prompt": "hi"}).json()["content"] == "ab"
