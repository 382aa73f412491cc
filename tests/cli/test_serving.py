"""The server as a process: what a person sees when it starts, fails to start, and stops."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from support.small_gguf import write_dense

SERVER = Path(sys.executable).parent / "ferrox-server"
BUSY_MACHINE = 1.0
"""Seconds that a process may have to wait for its turn when everything else runs at the same time."""

LISTENING = "server is listening on "


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_dense(tmp_path_factory.mktemp("model") / "small.gguf", n_ctx=512)


class Process:
    """A running server; its address is read off the line that scripts wait for."""

    def __init__(self, *arguments: str | Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [SERVER, *arguments],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": os.environ["PATH"], **environment},
        )
        self.lines: list[str] = []

    def __enter__(self):
        for line in self.process.stderr:
            self.lines.append(line)
            if LISTENING in line:
                self.url = line.split(LISTENING)[1].strip()
                return self
        self.__exit__()
        raise AssertionError("".join(self.lines))

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate(timeout=10)


def refusal(*arguments: str | Path) -> str:
    result = subprocess.run([SERVER, *arguments], capture_output=True, text=True, timeout=60)
    assert result.returncode == 1
    (said,) = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert "Traceback" not in result.stderr
    assert result.stderr.splitlines()[-1] == said
    return said


def test_a_missing_file_is_one_clear_line(tmp_path):
    assert "none.gguf" in refusal("--port", "0", "-m", tmp_path / "none.gguf")


def test_a_file_that_is_no_gguf_is_one_clear_line(tmp_path):
    page = tmp_path / "page.gguf"
    page.write_text("<html>not found</html>")
    assert "page.gguf" in refusal("--port", "0", "-m", page)


@pytest.mark.parametrize("kept", [40, 60000])
def test_a_truncated_file_is_one_clear_line(tmp_path, model, kept):
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(model.read_bytes()[:kept])
    assert "cut.gguf" in refusal("--port", "0", "-m", cut)


def test_a_context_that_does_not_fit_into_memory_is_one_clear_line_and_touches_none(model):
    said = refusal("--port", "0", "-m", model, "-c", "2000000000")
    assert "a context of 2000000000 tokens needs at least" in said
    assert "lower -c" in said


def test_a_port_in_use_is_one_clear_line_before_anything_is_loaded(model):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refusal("-m", model, "--port", str(port))
    assert f"127.0.0.1:{port}" in said
    assert "in use" in said.lower()


def test_scripts_wait_for_the_line_and_then_ask(model):
    with Process("-m", model, "--port", "0") as server:
        assert httpx.get(server.url + "/health").json() == {"status": "ok"}
        assert httpx.get(server.url + "/props").json()["total_slots"] == 4
        assert len(httpx.get(server.url + "/slots").json()) == 4


def test_variables_alone_are_enough(model):
    with Process(LLAMA_ARG_MODEL=str(model), LLAMA_ARG_PORT="0", LLAMA_ARG_N_PARALLEL="2") as server:
        assert httpx.get(server.url + "/props").json()["total_slots"] == 2


def test_a_body_needs_no_content_type(model):
    body = json.dumps({"prompt": "Once", "n_predict": 4})
    form = {"Content-Type": "application/x-www-form-urlencoded"}  # what curl -d sends
    with Process("-m", model, "--port", "0") as server:
        assert httpx.post(server.url + "/completion", content=body, headers=form).json()["tokens_predicted"] == 4
        assert httpx.post(server.url + "/completion", content=body).json()["tokens_predicted"] == 4


def test_a_script_that_polls_sees_it_loading_and_then_well(model):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = Process("-m", model, "--port", str(port))
    try:
        seen, until = set(), time.monotonic() + 30
        while 200 not in seen and time.monotonic() < until:
            try:
                seen.add(httpx.get(f"http://127.0.0.1:{port}/health").status_code)
            except httpx.ConnectError:
                time.sleep(0.005)
        assert seen <= {200, 503}
        assert 200 in seen
    finally:
        server.__exit__()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_within_two_seconds_running_streams_included(model, number):
    body = {"prompt": "Once", "n_predict": -1, "ignore_eos": True, "stream": True}
    with (
        Process("-m", model, "--port", "0", "--context-shift") as server,
        httpx.stream("POST", server.url + "/completion", json=body, timeout=30) as answer,
    ):
        lines = answer.iter_lines()
        assert next(lines).startswith("data: ")
        began = time.monotonic()
        server.process.send_signal(number)
        assert server.process.wait(timeout=10) == 0
        assert time.monotonic() - began < 2 + BUSY_MACHINE


def test_a_unix_socket_is_listened_on_and_removed_again(model, tmp_path):
    path = tmp_path / "x.sock"
    with Process("-m", model, "--host", str(path)) as server:
        transport = httpx.HTTPTransport(uds=str(path))
        with httpx.Client(transport=transport) as client:
            assert client.get("http://unix/health").json() == {"status": "ok"}
        server.process.terminate()
        server.process.wait(timeout=10)
        assert not path.exists()


def test_warnings_come_first_and_do_not_stop_it(model):
    with Process("-m", model, "--port", "0", "--prio", "2") as server:
        assert server.lines[0].startswith("warning: --prio has no effect: ")
