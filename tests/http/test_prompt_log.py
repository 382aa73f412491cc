"""`--log-prompts-dir` over HTTP."""

from dataclasses import replace

import httpx
from support.models import scripted_ready
from support.serving import serving

from ferrox_gguf.settings import LogSettings, Settings

CLIENT = httpx.Client(verify=False)


def logging_to(folder):
    return replace(Settings(), log=replace(LogSettings(), prompts_path=str(folder)))


def test_every_prompt_is_a_file_once_whatever_n_is(tmp_path):
    with serving(lambda: scripted_ready(b"hi"), logging_to(tmp_path)) as url:
        chat = CLIENT.post(
            url + "/v1/chat/completions", json={"messages": [{"role": "user", "content": "why"}], "n": 2}
        )
        CLIENT.post(url + "/completion", json={"prompt": ["one", "two"], "stream": True})
    texts = [path.read_text() for path in sorted(tmp_path.iterdir())]
    assert texts == ["<s>[user]why\n[assistant]", "<s>one", "<s>two"]
    assert any(chat.json()["id"] in path.name for path in tmp_path.iterdir())


def test_a_folder_that_is_gone_harms_no_request(tmp_path):
    with serving(lambda: scripted_ready(b"hi"), logging_to(tmp_path / "gone")) as url:
        assert CLIENT.post(url + "/completion", json={"prompt": "a"}).json()["content"] == "hi"
