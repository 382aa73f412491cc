"""`--timeout` over real sockets: who is silent too long is let go, and nobody else."""

import socket
import time
from dataclasses import replace

import httpx
import pytest
from support.models import scripted_ready
from support.serving import serving

from ferrox_gguf.settings import ServerSettings, Settings

CLIENT = httpx.Client(verify=False)
PATIENCE = replace(Settings(), server=replace(ServerSettings(), timeout=1))


@pytest.fixture(scope="module")
def url():
    with serving(lambda: scripted_ready(b"hi", settings=PATIENCE), PATIENCE) as url:
        yield url


def connect(url):
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def seconds_until_closed(client):
    began = time.monotonic()
    try:
        while client.recv(65536):
            pass
    except ConnectionError:
        pass
    return time.monotonic() - began


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"POST /completion HT",
        b"POST /completion HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"POST /completion HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    ],
)
def test_a_request_that_does_not_go_on_is_dropped(url, begun):
    with connect(url) as client:
        client.sendall(begun)
        assert 0.8 < seconds_until_closed(client) < 4


def test_a_request_that_goes_on_slowly_is_served(url):
    body = b'{"prompt": "a"}'
    with connect(url) as client:
        client.sendall(b"POST /completion HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body))
        for start in range(0, len(body), 5):
            time.sleep(0.6)
            client.sendall(body[start : start + 5])
        assert client.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_an_answer_that_nobody_reads_is_dropped(url):
    text = b"a" * 15_000_000
    body = b'{"messages": [{"role": "user", "content": "' + text + b'"}]}'
    with connect(url) as client:
        head = b"POST /apply-template HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
        client.sendall(head + body)
        client.settimeout(60)
        assert client.recv(1, socket.MSG_PEEK)
        time.sleep(3)
        received = b""
        try:
            while chunk := client.recv(1 << 20):
                received += chunk
        except ConnectionError:
            pass
    assert 0 < len(received) < len(text), "the rest was given up"


def test_an_answer_that_takes_its_time_is_not():
    def slow(request):
        return b"0123456789"

    ready = []

    def make():
        ready.append(scripted_ready(slow, settings=PATIENCE))
        ready[0].model.engine.pause = 0.3
        return ready[0]

    with serving(make, PATIENCE) as url:
        assert CLIENT.post(url + "/completion", json={"prompt": "a"}).json()["content"] == "0123456789"
        streamed = CLIENT.post(url + "/completion", json={"prompt": "a", "stream": True})
        assert streamed.text.count('"content":"') >= 10
