"""Streams that can be left and resumed, over HTTP."""

import json
import time

import httpx
import pytest
from support.models import scripted_ready
from support.serving import serving

CLIENT = httpx.Client(verify=False)


class Teller:
    """Counts up for ever, or as far as it is told."""

    def __init__(self, pause=0.01):
        self.ready, self.pause = None, pause

    def make(self):
        def script(request):
            limit = bytes(token for token in request.tokens if token < 256)
            for number in range(int(limit)):
                yield from f"{number} ".encode()

        self.ready = scripted_ready(script)
        self.ready.model.engine.pause = self.pause
        return self.ready


@pytest.fixture(scope="module")
def server():
    teller = Teller()
    with serving(teller.make) as url:
        yield url, teller.ready


def ask(url, conversation, numbers):
    return CLIENT.stream(
        "POST",
        url + "/completion",
        json={"prompt": str(numbers), "stream": True, "sse_ping_interval": -1},
        headers={"X-Conversation-Id": conversation},
    )


def read(url, conversation, start=0, method="GET"):
    return CLIENT.request(method, url + "/v1/stream", params={"conv_id": conversation, "from": start})


def text_of(body):
    frames = [json.loads(line[6:]) for line in body.decode().split("\n\n") if line.startswith("data: {")]
    return "".join(frame["content"] for frame in frames)


def counted(numbers):
    return "".join(f"{number} " for number in range(numbers))


def lookup(url, *conversations):
    return CLIENT.post(url + "/v1/streams/lookup", json={"conversation_ids": conversations}).json()


def test_a_stream_that_was_read_can_be_read_again_from_anywhere(server):
    url, _ = server
    with ask(url, "a::org/model:Q8", 20) as answer:
        whole = answer.read()
    assert text_of(whole) == counted(20)
    again = read(url, "a::org/model:Q8")
    assert again.headers["content-type"].startswith("text/event-stream")
    assert again.content == whole
    assert read(url, "a::org/model:Q8", 100).content == whole[100:]
    assert read(url, "a::org/model:Q8", len(whole)).content == b""


def test_a_client_that_leaves_finds_the_rest_when_it_comes_back(server):
    url, ready = server
    with ask(url, "left", 40) as answer:
        first = next(answer.iter_raw())
    rest = read(url, "left", len(first)).content
    assert text_of(first + rest) == counted(40)
    assert ready.model.engine.cancelled == []


def test_two_can_listen_to_one_stream(server):
    url, _ = server
    with ask(url, "shared", 40) as answer:
        chunks = answer.iter_raw()
        first = next(chunks)
        other = read(url, "shared").content
        assert first + b"".join(chunks) == other


def test_stopping_ends_the_request_and_forgets_it(server):
    url, ready = server
    before = len(ready.model.engine.cancelled)
    with ask(url, "stopped", 100_000) as answer:
        chunks = answer.iter_raw()
        next(chunks)
        assert read(url, "stopped", method="DELETE").status_code == 204
        for _ in chunks:
            pass
    assert len(ready.model.engine.cancelled) == before + 1
    assert read(url, "stopped").status_code == 404
    assert read(url, "stopped", method="DELETE").status_code == 204


def test_the_next_request_of_a_conversation_replaces_the_last(server):
    url, ready = server
    before = len(ready.model.engine.cancelled)
    with ask(url, "again", 100_000) as answer:
        next(answer.iter_raw())
    with ask(url, "again", 3) as answer:
        assert text_of(answer.read()) == counted(3)
    assert len(ready.model.engine.cancelled) == before + 1
    assert text_of(read(url, "again").content) == counted(3)


def test_only_conversations_that_one_can_name_are_found(server):
    url, _ = server
    with ask(url, "mine", 2) as answer:
        size = len(answer.read())
    with ask(url, "mine::model", 2) as answer:
        answer.read()
    found = lookup(url, "mine", "yours", "", 3)
    assert [one["conversation_id"] for one in found] == ["mine", "mine::model"]
    assert (found[0]["is_done"], found[0]["total_bytes"]) == (True, size)
    assert found[0]["started_at"] <= found[0]["completed_at"] <= time.time()
    assert lookup(url, "min") == []


def test_a_request_that_never_began_leaves_nothing_behind(server):
    url, _ = server
    with ask(url, "refused", "9" * 5000) as answer:
        assert answer.status_code == 400
        assert json.loads(answer.read())["error"]["type"] == "exceed_context_size_error"
    assert read(url, "refused").status_code == 404


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("", 400, "Missing conversation id"),
        ("?conv_id=", 400, "Missing conversation id"),
        ("?conv_id=unknown", 404, "not found"),
        ("?conv_id=known&from=x", 400, "from"),
        ("?conv_id=known&from=-1", 400, "from"),
    ],
)
def test_what_cannot_be_read_says_why(server, query, status, said):
    url, _ = server
    with ask(url, "known", 1) as answer:
        answer.read()
    answer = CLIENT.get(url + "/v1/stream" + query)
    assert answer.status_code == status
    assert said in answer.json()["error"]["message"]


def test_a_request_without_a_conversation_still_ends_with_its_client(server):
    url, ready = server
    before = len(ready.model.engine.cancelled)
    with CLIENT.stream("POST", url + "/completion", json={"prompt": "100000", "stream": True}) as answer:
        next(answer.iter_raw())
    until = time.monotonic() + 5
    while len(ready.model.engine.cancelled) == before:
        assert time.monotonic() < until
        time.sleep(0.02)
