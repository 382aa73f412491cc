"""What scripts around llama-server do, against the real program and a real model."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from support.small_gguf import write_dense

SERVER = Path(sys.executable).parent / "ferrox-server"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_dense(tmp_path_factory.mktemp("habits") / "small.gguf", n_ctx=512)


@contextlib.contextmanager
def program(**variables):
    """A server that knows what to do from LLAMA_ARG_* alone: its address, and what it has said so far."""
    port = free_port()
    environment = {"PATH": os.environ["PATH"], "LLAMA_ARG_PORT": str(port), "LLAMA_ARG_THREADS": "1"}
    arguments = variables.pop("arguments", ())
    process = subprocess.Popen([SERVER, *arguments], env=environment | variables, stderr=subprocess.PIPE, text=True)
    lines: list[str] = []
    reader = threading.Thread(target=lambda: lines.extend(iter(process.stderr.readline, "")))
    reader.start()
    try:
        yield f"http://127.0.0.1:{port}", lines
        assert process.poll() is None, "".join(lines)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        finally:
            process.kill()
            process.wait()
            reader.join()
            process.stderr.close()


@pytest.fixture(scope="module")
def started(model):
    with program(
        LLAMA_ARG_MODEL=str(model),
        LLAMA_ARG_CTX_SIZE="512",
        LLAMA_ARG_N_PARALLEL="2",
        LLAMA_ARG_ENDPOINT_METRICS="1",
        LLAMA_ARG_ALIAS="small",
    ) as running:
        yield running


@pytest.fixture(scope="module")
def url(started):
    return wait_until_healthy(started[0])


def wait_until_healthy(url):
    """Polling /health until it answers 200, as every start script does."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            answer = httpx.get(url + "/health")
        except httpx.TransportError:
            time.sleep(0.05)
            continue
        if answer.status_code == 200:
            assert answer.json() == {"status": "ok"}
            return url
        assert answer.status_code == 503
        assert answer.json()["error"]["message"] == "Loading model"
        time.sleep(0.05)
    raise AssertionError("it never became healthy")


def curl(*arguments):
    done = subprocess.run(["curl", "-s", *arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_line_that_scripts_wait_for_comes_once_it_answers(started, url):
    until = time.monotonic() + 5
    while not any(re.search(r"listening on http://\S+:\d+", line) for line in started[1]):
        assert time.monotonic() < until
        time.sleep(0.05)
    (line,) = [line for line in started[1] if "listening on" in line]
    assert line.strip().endswith(url)


def test_curl_with_d_and_no_content_type(url):
    answer = curl(url + "/completion", "-d", '{"prompt": "Once", "n_predict": 4}')
    assert (answer["tokens_predicted"], answer["stop_type"], answer["model"]) == (4, "limit", "small")
    chat = curl(
        url + "/v1/chat/completions", "-d", '{"messages": [{"role": "user", "content": "hi"}], "max_tokens": 3}'
    )
    assert chat["usage"]["completion_tokens"] == 3


def test_props_are_read_for_what_the_server_can_do(url):
    props = curl(url + "/props")
    assert props["total_slots"] == 2
    assert props["default_generation_settings"]["n_ctx"] == 256
    assert props["default_generation_settings"]["params"]["temperature"] == pytest.approx(0.8)
    assert props["model_alias"] == "small"
    assert props["model_path"].endswith("small.gguf")
    assert props["modalities"] == {"vision": False, "video": False, "audio": False}
    assert (props["endpoint_slots"], props["endpoint_props"], props["endpoint_metrics"]) == (True, False, True)
    assert props["build_info"].startswith("b")
    assert props["is_sleeping"] is False
    assert isinstance(props["chat_template"], str)
    assert props["posture"]["evidence"]


def test_slots_are_watched(url):
    idle = curl(url + "/slots")
    assert [(slot["id"], slot["n_ctx"], slot["is_processing"]) for slot in idle] == [(0, 256, False), (1, 256, False)]
    over = threading.Event()

    def ask():
        with httpx.Client() as client:
            while not over.is_set():
                client.post(url + "/completion", json={"prompt": "a", "n_predict": 200, "ignore_eos": True})

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        with httpx.Client() as client:
            until, busy = time.monotonic() + 20, []
            while not busy and time.monotonic() < until:
                busy = [slot for slot in client.get(url + "/slots").json() if slot["is_processing"]]
    finally:
        over.set()
        asking.join()
    assert len(busy) == 1
    assert busy[0]["params"]["n_predict"] == 200
    assert busy[0]["next_token"][0]["n_remain"] <= 200


def test_metrics_are_scraped(url):
    text = httpx.get(url + "/metrics").text
    found = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("llamacpp:"))
    assert float(found["llamacpp:tokens_predicted_total"]) >= 7
    assert float(found["llamacpp:n_tokens_max"]) >= 5
    assert float(found["llamacpp:requests_deferred"]) == 0


def test_a_real_model_goes_and_comes_back_as_often_as_it_is_needed(model):
    with (
        program(LLAMA_ARG_MODEL=str(model), arguments=("--sleep-idle-seconds", "1")) as (url, _),
        httpx.Client() as client,
    ):
        wait_until_healthy(url)
        said = set()
        for _ in range(3):
            until = time.monotonic() + 20
            while not client.get(url + "/props").json()["is_sleeping"]:
                assert time.monotonic() < until
                time.sleep(0.1)
            body = {"prompt": "Once", "n_predict": 8, "temperature": 0}
            said.add(client.post(url + "/completion", json=body, timeout=30).json()["content"])
        assert len(said) == 1
