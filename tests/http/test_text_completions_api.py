"""OpenAI's text completions over HTTP on a real model: several prompts and answers, probabilities, what is refused."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest
from openai.types import Completion
from support.asking import openai_client, post
from support.real import serving_file
from support.small_gguf import write_dense
from support.strict import extras

BEYOND_OPENAI = {"timings", "content"}
"""llama-server's own: timings, and probabilities with ids under `logprobs.content`."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving_file(write_dense(tmp_path_factory.mktemp("text") / "dense.gguf", add_bos=True)) as url:
        yield url


def whole(url: str, prompt: object = "hello", **fields: object) -> Completion:
    with openai_client(url) as client:
        answer = client.completions.create(model="m", prompt=prompt, **fields)  # type: ignore[call-overload]
    assert isinstance(answer, Completion)
    assert set(extras(answer)) <= BEYOND_OPENAI
    return answer


def streamed(url: str, prompt: object = "hello", **fields: object) -> tuple[dict[int, str], Completion]:
    """The text of each choice, and the last chunk."""
    with openai_client(url) as client:
        chunks = list(client.completions.create(model="m", prompt=prompt, stream=True, **fields))  # type: ignore[call-overload]
    texts: dict[int, str] = {}
    for chunk in chunks:
        assert set(extras(chunk)) <= BEYOND_OPENAI
        for choice in chunk.choices:
            texts[choice.index] = texts.get(choice.index, "") + choice.text
    return texts, chunks[-1]


def test_every_prompt_is_answered_n_times_in_order(url: str) -> None:
    asked = {"prompt": ["one", "other"], "n": 2, "max_tokens": 6, "temperature": 1.0, "seed": 4}
    answer = whole(url, **asked)
    texts = [choice.text for choice in answer.choices]
    assert [choice.index for choice in answer.choices] == [0, 1, 2, 3]
    assert len(set(texts)) == 4
    assert answer.usage is not None
    assert answer.usage.prompt_tokens == len("one") + len("other") + 2
    assert answer.usage.completion_tokens == 4 * 6
    assert whole(url, ["other"], n=2, max_tokens=6, temperature=1.0, seed=4).choices[1].text == texts[3]
    told, last = streamed(url, **asked, stream_options={"include_usage": True})
    assert [told[index] for index in range(4)] == texts
    assert last.choices == []
    assert last.usage is not None
    assert last.usage.completion_tokens == answer.usage.completion_tokens


def test_prompts_may_be_ids_one_list_or_several(url: str) -> None:
    ids = post(url + "/tokenize", {"content": "hello", "add_special": True}).json()["tokens"]
    asked = {"max_tokens": 5, "temperature": 0.0}
    wanted = whole(url, "hello", **asked).choices[0].text
    assert whole(url, ids, **asked).choices[0].text == wanted
    assert [choice.text for choice in whole(url, [ids, ids], **asked).choices] == [wanted, wanted]


def test_probabilities_are_openais_four_lists(url: str) -> None:
    answer = whole(url, max_tokens=5, temperature=0.0, logprobs=3)
    [choice] = answer.choices
    found = choice.logprobs
    assert found is not None
    assert found.tokens is not None
    assert found.token_logprobs is not None
    assert found.top_logprobs is not None
    assert found.text_offset is not None
    assert len(found.tokens) == len(found.token_logprobs) == len(found.top_logprobs) == len(found.text_offset) == 5
    for token, logprob, top, offset in zip(
        found.tokens, found.token_logprobs, found.top_logprobs, found.text_offset, strict=True
    ):
        # A random model says parts of characters too.
        assert token.startswith("bytes:") or choice.text[offset : offset + len(token)] == token
        assert logprob == top[token] == max(top.values()) <= 0  # greedy
        assert len(top) == 3


def test_a_stop_string_and_a_limit_are_told_apart(url: str) -> None:
    text = whole(url, max_tokens=8, temperature=0.0).choices[0].text
    answer = whole(url, max_tokens=8, temperature=0.0, stop=[text[3:5]])
    assert (answer.choices[0].text, answer.choices[0].finish_reason) == (text[: text.index(text[3:5])], "stop")
    assert whole(url, max_tokens=2).choices[0].finish_reason == "length"


@pytest.mark.parametrize("fields", [{"echo": True}, {"suffix": "x"}, {"best_of": 2}, {"n": 99}, {"logprobs": -1}])
def test_what_cannot_be_is_refused_by_name(url: str, fields: dict) -> None:
    with pytest.raises(openai.BadRequestError, match=next(iter(fields))):
        whole(url, **fields)


def test_no_echo_is_what_everybody_gets(url: str) -> None:
    assert not whole(url, "hello", echo=False, max_tokens=2).choices[0].text.startswith("hello")
