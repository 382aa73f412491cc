"""`X-Request-Id`: taken, returned and logged; and what the access log says."""

import logging

import httpx
import pytest
from support.models import scripted_ready
from support.serving import serving

CLIENT = httpx.Client(verify=False)


@pytest.fixture(scope="module")
def url():
    with serving(lambda: scripted_ready(b"hi")) as url:
        yield url


def access_lines(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "ferrox_gguf.server.access_log"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_clients_own_id_comes_back(url, stream):
    asked = {"prompt": "a", "stream": stream}
    answer = CLIENT.post(url + "/completion", json=asked, headers={"X-Request-Id": "order-66"})
    assert answer.headers["x-request-id"] == "order-66"


def test_every_other_request_gets_one_of_its_own(url):
    ids = {CLIENT.get(url + path).headers["x-request-id"] for path in ("/health", "/health", "/nowhere", "/props")}
    assert len(ids) == 4


@pytest.mark.parametrize("given", ["", "two words", "a" * 129, "caf\u00e9", "tab\there"])
def test_an_id_that_could_forge_the_log_is_replaced(url, given):
    answer = CLIENT.get(url + "/health", headers=[(b"X-Request-Id", given.encode("latin-1"))])
    assert answer.headers["x-request-id"].isalnum()
    assert answer.headers["x-request-id"] != given


def test_a_request_is_one_line_and_a_poll_none(url, caplog):
    with caplog.at_level(logging.INFO):
        CLIENT.get(url + "/health")
        CLIENT.post(url + "/completion?secret=1", json={"prompt": "private"})
        CLIENT.get(url + "/no%0Awhere")
    completion, nowhere = access_lines(caplog)
    assert completion.startswith("POST /completion 200 ")
    assert nowhere.startswith("GET /no%0Awhere 404 ")
    assert "secret" not in completion
    assert "private" not in completion
