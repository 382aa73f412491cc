"""What a browser is told about who may ask (`--cors-*`)."""

import socket
from dataclasses import replace

import httpx
import pytest
from support.models import scripted_ready
from support.serving import serving

from ferrox_gguf.settings import CorsSettings, ServerSettings, Settings

CLIENT = httpx.Client(verify=False)


def server(**fields):
    cors = replace(CorsSettings(), **fields)
    settings = replace(Settings(), server=replace(ServerSettings(), cors=cors, api_keys=("k",)))
    return serving(lambda: scripted_ready(b"hi"), settings)


def allowed(url, origin, method="OPTIONS"):
    headers = {"origin": origin} if origin else {}
    answer = CLIENT.request(method, url + "/health", headers=headers)
    assert answer.status_code == 200
    return answer.headers.get("access-control-allow-origin")


def test_a_preflight_needs_no_key_and_says_what_is_allowed():
    with server(methods="GET, POST", headers="X-One") as url:
        answer = CLIENT.options(url + "/completion", headers={"origin": "https://page.example"})
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["access-control-allow-methods"] == "GET, POST"
    assert answer.headers["access-control-allow-headers"] == "X-One"
    assert answer.headers["access-control-allow-credentials"] == "true"
    assert answer.headers["access-control-allow-origin"] == "https://page.example"


def test_any_origin_is_told_so_by_name_only_where_credentials_are_allowed():
    with server(credentials=True) as url:
        assert allowed(url, "https://a.example", "GET") == "https://a.example"
    with server(credentials=False) as url:
        assert allowed(url, "https://a.example", "GET") == "*"
        assert CLIENT.options(url).headers["access-control-allow-credentials"] == "false"


@pytest.mark.parametrize(
    ("origin", "admitted"),
    [
        ("http://localhost", True),
        ("http://localhost:3000", True),
        ("https://127.0.0.1:8443", True),
        ("http://[::1]:3000", True),
        ("http://localhost.evil.example", False),
        ("http://notlocalhost", False),
        ("http://evil.example/?localhost", False),
        ("http://localhost@evil.example", False),
        ("null", False),
        ("http://[::1", False),
    ],
)
def test_localhost_admits_pages_of_this_machine_and_no_others(origin, admitted):
    with server(origins=("localhost",)) as url:
        assert allowed(url, origin) == (origin if admitted else None)


def test_a_list_of_origins_is_sent_as_it_was_given():
    with server(origins=("https://a.example", "https://b.example")) as url:
        assert allowed(url, "https://c.example") == "https://a.example, https://b.example"


def test_errors_carry_the_header_too_or_a_page_could_not_read_them():
    with server() as url:
        answer = CLIENT.post(url + "/completion", json={}, headers={"origin": "https://a.example"})
    assert answer.status_code == 401
    assert answer.headers["access-control-allow-origin"] == "https://a.example"


def test_names_are_spelled_on_the_wire_as_llama_server_spells_them():
    with server() as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(b"OPTIONS / HTTP/1.1\r\nHost: x\r\nOrigin: http://a\r\nConnection: close\r\n\r\n")
            said = b"".join(iter(lambda: client.recv(4096), b""))
    for name in (b"Origin", b"Methods", b"Headers", b"Credentials"):
        assert b"\r\nAccess-Control-Allow-" + name + b": " in said
