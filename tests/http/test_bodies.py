"""What a client may send, and what it is told about what it may not."""

import json
import socket
import subprocess

import httpx
import pytest
from support.models import scripted_ready
from support.serving import serving

from ferrox_gguf.server.body_limit import LIMIT

CLIENT = httpx.Client(verify=False)

ROUTES_WITH_A_BODY = (
    "/completion",
    "/v1/completions",
    "/v1/chat/completions",
    "/v1/chat/completions/control",
    "/v1/responses",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/tokenize",
    "/detokenize",
    "/apply-template",
    "/infill",
    "/lora-adapters",
)


@pytest.fixture(scope="module")
def url():
    with serving(lambda: scripted_ready(b"hi")) as url:
        yield url


def refused(answer, status=400, kind="invalid_request_error"):
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    error = answer.json()["error"]
    assert error["type"] == kind
    return error["message"]


@pytest.mark.parametrize("path", ROUTES_WITH_A_BODY)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"prompt": ',
        b'{"prompt": "a"} trailing',
        b"{'prompt': 'a'}",
        b"nonsense",
        b'{"prompt": "a\x01b"}',
        b'{"prompt": "a\nb"}',
        b'{"prompt": "a\xff"}',
        b'{"prompt": "\xed\xa0\x80"}',
        b'{"prompt": NaN}',
        b"3",
        b'"text"',
        b"null",
    ],
)
def test_what_is_no_json_object_is_a_400_everywhere(url, path, body):
    refused(CLIENT.post(url + path, content=body))


@pytest.mark.parametrize("field", ["prompt", "json_schema", "messages", "unheard_of", "chat_template_kwargs"])
@pytest.mark.parametrize("depth", [101, 900, 100_000])
def test_a_body_that_is_nested_too_deeply_is_a_400(url, field, depth):
    deep = '{"a":[' * (depth // 2) + "]}" * (depth // 2)
    body = f'{{"messages": [], "prompt": "a", "{field}": {deep}}}'
    assert refused(CLIENT.post(url + "/completion", content=body))
    assert refused(CLIENT.post(url + "/v1/chat/completions", content=body))


def test_many_brackets_side_by_side_are_not_deep(url):
    body = {"prompt": "a", "unheard_of": [[] for _ in range(1000)], "deep": json.loads("[" * 90 + "]" * 90)}
    assert CLIENT.post(url + "/completion", json=body).status_code == 200


def test_a_body_of_more_than_100_mib_is_refused_before_it_is_read(url):
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(f"POST /completion HTTP/1.1\r\nHost: x\r\nContent-Length: {LIMIT + 1}\r\n\r\n{{".encode())
        assert client.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_a_body_whose_length_nobody_said_is_counted(url):
    def chunks():
        for _ in range(LIMIT // 2**20 + 1):
            yield b" " * 2**20

    assert refused(CLIENT.post(url + "/completion", content=chunks()), 413)


def test_curl_needs_no_content_type(url):
    said = subprocess.run(
        ["curl", "-s", url + "/completion", "-d", '{"prompt": "a"}'], capture_output=True, text=True, check=True
    )
    assert json.loads(said.stdout)["content"] == "hi"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/nothing"),
        ("POST", "/nothing"),
        ("GET", "/completion"),
        ("PUT", "/completion"),
        ("PATCH", "/health"),
        ("DELETE", "/health"),
        ("POST", "/health"),
        ("GET", "/health/"),
        ("GET", "//health"),
        ("GET", "/%2e%2e/health"),
    ],
)
def test_an_unknown_route_or_method_is_llama_servers_404(url, method, path):
    assert refused(CLIENT.request(method, url + path), 404, "not_found_error") == "File Not Found"


def test_what_is_no_http_is_a_400(url):
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(b"HELLO\r\n\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 400 ")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(b"GET /health HTTP/1.1\r\nX: " + b"a" * 70_000 + b"\r\n\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 400 ")


def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_news(url, caplog):
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(b"POST /completion HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    assert CLIENT.get(url + "/health").status_code == 200
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
