"""A model that sleeps when nobody needs it, over HTTP."""

import threading
import time
from dataclasses import replace

import httpx
import pytest
from support.models import scripted_ready
from support.serving import serving

from ferrox_gguf.errors import StartupError
from ferrox_gguf.request import AdapterState
from ferrox_gguf.runtime.adapters import Adapters
from ferrox_gguf.settings import EndpointSettings, ServerSettings, Settings

CLIENT = httpx.Client(verify=False)

SLEEPY = replace(Settings(), server=replace(ServerSettings(), sleep_idle=1, endpoints=EndpointSettings(metrics=True)))


class Loads:
    """Counts how often the model was loaded and unloaded; the next load can be made to fail."""

    def __init__(self, script=b"hi"):
        self.loaded, self.closed, self.fails, self.script = 0, 0, False, script
        self.ready = None

    def make(self):
        if self.fails:
            raise StartupError("the file is gone")
        self.loaded += 1
        self.ready = scripted_ready(self.script, settings=SLEEPY)
        self.ready.close = self.close
        return self.ready

    async def close(self):
        self.closed += 1


def asleep(url):
    return CLIENT.get(url + "/props").json()["is_sleeping"]


def wait_until(condition, seconds=8.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


def test_an_idle_model_is_unloaded_and_comes_back_for_the_next_request():
    loads = Loads()
    with serving(loads.make, SLEEPY) as url:
        awake = CLIENT.get(url + "/props").json()
        wait_until(lambda: asleep(url))
        assert (loads.loaded, loads.closed) == (1, 1)
        assert CLIENT.get(url + "/health").json() == {"status": "ok"}
        assert CLIENT.get(url + "/props").json() == awake | {"is_sleeping": True}
        assert CLIENT.get(url + "/v1/models").json()["data"][0]["id"] == "scripted"
        assert CLIENT.get(url + "/metrics").status_code == 200
        assert CLIENT.get(url + "/nowhere").status_code == 404
        assert asleep(url), "looking does not wake"
        assert CLIENT.post(url + "/completion", json={"prompt": "a"}).json()["content"] == "hi"
        assert (loads.loaded, asleep(url)) == (2, False)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/tokenize", {"content": "a"}),
        ("/v1/chat/completions/input_tokens", {"messages": [{"role": "user", "content": "a"}]}),
        ("/v1/messages/count_tokens", {"messages": [{"role": "user", "content": "a"}]}),
    ],
)
def test_counting_tokens_wakes_it_too(path, body):
    with serving(Loads().make, SLEEPY) as url:
        wait_until(lambda: asleep(url))
        assert CLIENT.post(url + path, json=body).status_code == 200
        assert not asleep(url)


def test_a_model_at_work_does_not_fall_asleep():
    def endless(request):
        while True:
            yield 97

    loads = Loads(endless)
    with serving(loads.make, SLEEPY) as url:
        loads.ready.model.engine.pause = 0.01
        with CLIENT.stream("POST", url + "/completion", json={"prompt": "a", "stream": True}) as answer:
            lines = answer.iter_lines()
            until = time.monotonic() + 2.5
            while time.monotonic() < until:
                next(lines)
            assert loads.closed == 0
        wait_until(lambda: asleep(url))


def test_many_who_come_at_once_wake_it_once():
    loads = Loads()
    with serving(loads.make, SLEEPY) as url:
        wait_until(lambda: asleep(url))
        found = []
        threads = [
            threading.Thread(target=lambda: found.append(httpx.post(url + "/completion", json={"prompt": "a"})))
            for _ in range(5)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [answer.json()["content"] for answer in found] == ["hi"] * 5
        assert loads.loaded == 2


def test_a_model_that_cannot_come_back_is_a_503_and_the_next_request_tries_again():
    loads = Loads()
    with serving(loads.make, SLEEPY) as url:
        wait_until(lambda: asleep(url))
        loads.fails = True
        answer = CLIENT.post(url + "/completion", json={"prompt": "a"})
        assert (answer.status_code, answer.json()["error"]["type"]) == (503, "unavailable_error")
        assert "the file is gone" in answer.json()["error"]["message"]
        assert CLIENT.get(url + "/health").status_code == 200
        loads.fails = False
        assert CLIENT.post(url + "/completion", json={"prompt": "a"}).status_code == 200


def test_counts_go_on_after_waking():
    loads = Loads()
    with serving(loads.make, SLEEPY) as url:
        loads.ready.lanes.counters.generated_tokens = 7
        wait_until(lambda: asleep(url))
        assert "llamacpp:tokens_predicted_total 7.0" in CLIENT.get(url + "/metrics").text
        CLIENT.post(url + "/tokenize", json={"content": "a"})
        loads.ready.lanes.counters.generated_tokens = 3
        assert "llamacpp:tokens_predicted_total 10.0" in CLIENT.get(url + "/metrics").text


def test_adapters_that_were_applied_to_everyone_still_are_after_a_sleep():
    loads = Loads()

    def make():
        ready = loads.make()
        ready.model.adapters = Adapters([AdapterState("style.gguf", 1.0)])
        return ready

    with serving(make, SLEEPY) as url:
        CLIENT.post(url + "/lora-adapters", json=[{"id": 0, "scale": 0.25}])
        wait_until(lambda: asleep(url))
        assert [one["scale"] for one in CLIENT.get(url + "/lora-adapters").json()] == [0.25]
        assert loads.loaded == 2
