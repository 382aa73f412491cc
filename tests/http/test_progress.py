"""How far a prompt has been read, in a stream, and the timings with it."""

import json

import httpx
import pytest
from support.models import scripted_ready
from support.serving import serving

CLIENT = httpx.Client(verify=False)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/completion", {"prompt": "hello"}),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "hello"}]}),
    ],
)
@pytest.mark.parametrize("timed", [True, False])
def test_progress_comes_with_timings_for_those_who_asked_for_them(path, body, timed):
    asked = body | {"stream": True, "return_progress": True, "timings_per_token": timed}
    with serving(lambda: scripted_ready(b"hi")) as url:
        text = CLIENT.post(url + path, json=asked).text
    frames = [json.loads(line[6:]) for line in text.split("\n\n") if line.startswith("data: {")]
    begun, read = (frame for frame in frames if "prompt_progress" in frame)
    assert (begun["prompt_progress"]["processed"], read["prompt_progress"]["processed"]) == (
        0,
        read["prompt_progress"]["total"],
    )
    if timed:
        assert begun["timings"]["prompt_n"] == begun["timings"]["prompt_ms"] == begun["timings"]["predicted_n"] == 0
        assert read["timings"]["prompt_n"] == read["prompt_progress"]["total"]
    else:
        assert "timings" not in begun
        assert "timings" not in read
