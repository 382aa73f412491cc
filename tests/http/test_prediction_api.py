"""Google Cloud's prediction routes over HTTP."""

import json
import threading
import time
from dataclasses import replace

import httpx
import pytest
from support.models import scripted_ready
from support.serving import serving

from ferrox_gguf.errors import StartupError
from ferrox_gguf.server.app import create_app
from ferrox_gguf.server.state import ServerState
from ferrox_gguf.settings import PredictionSettings, ServerSettings, Settings

CLIENT = httpx.Client(verify=False, headers={"authorization": "Bearer k"})


def cloud(predict="/predict", health="/alive", **fields):
    prediction = PredictionSettings(health_route=health, predict_route=predict)
    return replace(Settings(), server=replace(ServerSettings(), api_keys=("k",), prediction=prediction, **fields))


@pytest.fixture(scope="module")
def url():
    with serving(lambda: scripted_ready(b"Hello"), cloud()) as url:
        yield url


def predict(url, *instances):
    return CLIENT.post(url + "/predict", json={"instances": instances}).json()["predictions"]


def test_each_instance_is_answered_in_its_place_by_the_route_that_it_names(url):
    messages = [{"role": "user", "content": "hi"}]
    chat, text, native, tokens, props = predict(
        url,
        {"@requestFormat": "chatCompletions", "messages": messages},
        {"@requestFormat": "completions", "prompt": "a", "max_tokens": 2},
        {"@requestFormat": "/completion", "prompt": "a"},
        {"@requestFormat": "tokenize", "content": "ab"},
        {"@requestFormat": "props"},
    )
    assert chat["choices"][0]["message"]["content"] == "Hello"
    assert (text["object"], text["choices"][0]["text"]) == ("text_completion", "He")
    assert native["content"] == "Hello"
    assert tokens == {"tokens": [97, 98]}
    assert props["model_path"] == "scripted.gguf"


def test_one_that_fails_is_an_error_in_its_place(url):
    wrong, unknown, number, unnamed, right = predict(
        url,
        {"@requestFormat": "completions", "prompt": 3.5},
        {"@requestFormat": "nope"},
        3,
        {"prompt": "a"},
        {"@requestFormat": "tokenize", "content": "a"},
    )
    assert {one["error"]["code"] for one in (wrong, unknown, number, unnamed)} == {400}
    assert "nope" in unknown["error"]["message"]
    assert right == {"tokens": [97]}


def test_nothing_is_streamed(url):
    (answer,) = predict(url, {"@requestFormat": "completions", "prompt": "a", "stream": True})
    assert answer["choices"][0]["text"] == "Hello"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{", "JSON"),
        ("[]", "JSON object"),
        ('{"instances": 3}', "instances"),
        ("{}", "instances"),
        (json.dumps({"instances": [{}] * 129}), "128"),
    ],
)
def test_a_body_without_instances_is_a_400(url, body, said):
    answer = CLIENT.post(url + "/predict", content=body)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")
    assert said in answer.json()["error"]["message"]


def test_the_health_route_needs_no_key_and_predictions_do(url):
    assert httpx.get(url + "/alive").json() == {"status": "ok"}
    assert httpx.post(url + "/predict", json={"instances": []}).status_code == 401


def test_a_client_that_leaves_cancels_its_instances():
    def endless(request):
        while True:
            yield 97

    ready = []

    def make():
        ready.append(scripted_ready(endless))
        ready[0].model.engine.pause = 0.01
        return ready[0]

    with serving(make, cloud()) as url:
        engine = ready[0].model.engine

        def leave():
            instance = {"@requestFormat": "completions", "prompt": "a"}
            with pytest.raises(httpx.ReadTimeout):
                CLIENT.post(url + "/predict", json={"instances": [instance, instance]}, timeout=0.5)

        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
        until = time.monotonic() + 5
        while len(engine.cancelled) < 2:
            assert time.monotonic() < until
            time.sleep(0.02)


def test_below_a_prefix_everything_is_below_it():
    with serving(lambda: scripted_ready(b"Hello"), cloud(api_prefix="/x"), prefix="/x") as url:
        assert httpx.get(url + "/x/alive").status_code == 200
        assert predict(url + "/x", {"@requestFormat": "tokenize", "content": "a"}) == [{"tokens": [97]}]


def test_a_route_that_exists_cannot_become_the_predict_route():
    with pytest.raises(StartupError, match="AIP_PREDICT_ROUTE=/props"):
        create_app(ServerState(cloud(predict="/props")))
