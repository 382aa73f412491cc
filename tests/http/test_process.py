"""The process: what it says while it loads, when it listens, and how fast it leaves."""

import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

SCRIPT = Path(__file__).parents[1] / "support" / "scripted_process.py"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def process(load_seconds=0.0, port=None):
    port = port or free_port()
    started = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(port), str(load_seconds)], stderr=subprocess.PIPE, text=True
    )
    try:
        yield started, f"http://127.0.0.1:{port}"
    finally:
        started.kill()
        started.wait()
        if started.stderr and not started.stderr.closed:
            started.stderr.close()


def wait_for(url, status, seconds=30):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(httpx.TransportError):
            answer = httpx.get(url + "/health")
            if answer.status_code == status:
                return answer
        time.sleep(0.05)
    raise AssertionError(f"no {status} within {seconds} s")


def exit_within(started, seconds):
    began = time.monotonic()
    started.wait(seconds + 5)
    took = time.monotonic() - began
    assert took < seconds, f"took {took:.1f} s"


def stream_in_background(url):
    """Lines of an endless stream, as they come, and the thread that reads them."""
    lines = []

    def read():
        body = {"prompt": "hi", "stream": True}
        with contextlib.suppress(httpx.TransportError), httpx.stream("POST", url + "/completion", json=body) as answer:
            lines.extend(answer.iter_lines())

    thread = threading.Thread(target=read)
    thread.start()
    time.sleep(0.5)
    return lines, thread


def test_it_answers_503_while_the_model_loads_and_says_when_it_listens():
    with process(load_seconds=2) as (started, url):
        loading = wait_for(url, 503)
        assert loading.json() == {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
        assert httpx.post(url + "/completion", json={"prompt": "hi"}).status_code == 503
        assert wait_for(url, 200).json() == {"status": "ok"}
        started.send_signal(signal.SIGTERM)
        _, log = started.communicate()
        assert f"server is listening on {url}" in log


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_within_two_seconds_and_running_streams_with_it(number):
    with process() as (started, url):
        wait_for(url, 200)
        lines, thread = stream_in_background(url)
        started.send_signal(number)
        exit_within(started, 2)
        thread.join()
        assert started.returncode == 0
        last = json.loads([line for line in lines if line][-1].removeprefix("data: "))
        assert last["error"]["type"] == "unavailable_error"


def test_a_signal_while_the_model_loads_ends_it_too():
    with process(load_seconds=60) as (started, url):
        wait_for(url, 503)
        started.send_signal(signal.SIGINT)
        exit_within(started, 2)


def test_a_port_in_use_is_one_line_and_status_1():
    with socket.create_server(("127.0.0.1", 0)) as taken, process(port=taken.getsockname()[1]) as (started, url):
        _, log = started.communicate(timeout=30)
        assert started.returncode == 1
        assert log.count("\n") == 1
        assert url.removeprefix("http://") in log
        assert "in use" in log


def test_a_model_that_cannot_be_loaded_is_one_line_and_status_1():
    with process(load_seconds=-1) as (started, _):
        _, log = started.communicate(timeout=30)
        assert started.returncode == 1
        assert log.strip().splitlines()[-1] == "error: the file is broken"
        assert "Traceback" not in log
