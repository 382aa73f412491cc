"""A client that leaves an answer of any dialect takes its request with it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest
from support.models import scripted_ready
from support.serving import serving

TURN = [{"role": "user", "content": "hi"}]
ASKED = {
    "/v1/responses": {"input": "hi"},
    "/v1/messages": {"messages": TURN, "max_tokens": 100_000},
    "/v1/completions": {"prompt": "hi"},
    "/v1/chat/completions": {"messages": TURN},
}


def endless(request: object) -> Iterator[int]:
    while True:
        yield 97


@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize("stream", [True, False])
def test_leaving_cancels_streamed_or_not(path: str, stream: bool) -> None:
    ready = scripted_ready(endless)
    engine = ready.model.engine
    engine.pause = 0.001
    with serving(lambda: ready) as url, httpx.Client(verify=False, timeout=0.3) as client:
        body = {**ASKED[path], "stream": stream}
        if stream:
            with client.stream("POST", url + path, json=body) as answer:
                next(answer.iter_raw())
        else:
            with pytest.raises(httpx.ReadTimeout):
                client.post(url + path, json=body)
        until = time.monotonic() + 2
        while not engine.cancelled and time.monotonic() < until:
            time.sleep(0.01)
        assert set(engine.cancelled) == {0}  # more than once does no harm
