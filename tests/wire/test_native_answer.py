"""llama-server's own answers, and OpenAI's text completions."""

import json

import pytest
from support.answers import asked, events, finish

from ferrox_gguf.events import Candidate, ContentDelta, Progress, Step, StopType, TokenInfo
from ferrox_gguf.request import Generation, Sampling
from ferrox_gguf.wire.completions import TextCompletionAnswer
from ferrox_gguf.wire.joined import join
from ferrox_gguf.wire.native import NativeAnswer

STEPS = (Step(0, (ContentDelta("a"),), (10,)), Step(0, (ContentDelta("\nb"),), (11,)), Step(0, finish=finish()))


def stream(*steps, dialect=NativeAnswer, **fields):
    answer = dialect(asked(**fields))
    return events(b"".join(answer.frames(step) for step in steps) + answer.done())


def whole(*steps, choices=1, dialect=NativeAnswer, **fields):
    return json.loads(dialect(asked(choices=choices, **fields)).whole(join(steps, choices)))


def test_a_native_stream_sends_each_token_and_then_all_it_knows():
    frames = stream(*STEPS, stream=True)
    assert [(frame["content"], frame["tokens"], frame["stop"]) for frame in frames] == [
        ("a", [10], False),
        ("\nb", [11], False),
        ("", [], True),
    ]
    assert [frame["tokens_predicted"] for frame in frames] == [1, 2, 4]
    last = frames[-1]
    assert (last["id_slot"], last["stop_type"], last["prompt"], last["model"]) == (2, "eos", "prompt 0", "m")
    assert (last["tokens_evaluated"], last["has_new_line"], last["truncated"]) == (3, True, False)
    assert last["generation_settings"]["stream"] is True


def test_a_native_answer_is_its_stream_joined():
    body = whole(*STEPS)
    assert body["content"] == "".join(frame["content"] for frame in stream(*STEPS))
    assert body["tokens"] == []
    assert whole(*STEPS, return_tokens=True)["tokens"] == [10, 11]


def test_text_that_is_released_at_the_end_is_in_the_last_frame():
    assert stream(Step(0, (ContentDelta("held"),), finish=finish()))[-1]["content"] == "held"


def test_several_prompts_give_a_list():
    body = whole(Step(0, finish=finish()), Step(1, (ContentDelta("x"),), finish=finish()), choices=2)
    assert [(one["index"], one["content"]) for one in body] == [(0, ""), (1, "x")]


def test_timings_are_counted_per_token_and_the_first_one_is_the_prompts():
    assert whole(*STEPS)["timings"] == {
        "cache_n": 1,
        "prompt_n": 2,
        "prompt_ms": 10.0,
        "prompt_per_token_ms": 5.0,
        "prompt_per_second": 200.0,
        "predicted_n": 4,
        "predicted_ms": 20.0,
        "predicted_per_token_ms": 20.0 / 3,
        "predicted_per_second": 150.0,
    }


def test_the_seed_that_was_drawn_is_reported():
    assert whole(*STEPS)["generation_settings"]["seed"] == 9


def test_ignoring_the_end_shows_as_a_ban_of_every_end_token():
    generation = Generation(sampling=Sampling(ignore_eos=True, logit_bias=((5, 1.0),)))
    bias = whole(*STEPS, generation=generation)["generation_settings"]["logit_bias"]
    assert bias == [{"bias": 1.0, "token": 5}, {"bias": None, "token": 2}]


def test_response_fields_choose_and_unnest():
    body = whole(*STEPS, response_fields=("content", "generation_settings/n_predict", "nothing/here"))
    assert body == {"content": "a\nb", "generation_settings/n_predict": -1}


@pytest.mark.parametrize(
    ("after_sampling", "names"), [(False, ("logprob", "top_logprobs")), (True, ("prob", "top_probs"))]
)
def test_probabilities_are_logarithms_or_what_sampling_left(after_sampling, names):
    cut = Candidate(1, b"\xc3", 0.25)
    generation = Generation(n_probs=1, post_sampling_probs=after_sampling)
    (one,) = whole(Step(0, infos=(TokenInfo(cut, (cut,)),), finish=finish()), generation=generation)[
        "completion_probabilities"
    ]
    assert (one["id"], one["token"], one["bytes"], one[names[0]]) == (1, "", [0xC3], 0.25)
    assert one[names[1]] == [{"id": 1, "token": "", "bytes": [0xC3], names[0]: 0.25}]


def test_progress_is_a_frame_of_its_own():
    assert stream(Step(0, progress=Progress(10, 2, 6, 1.4)))[0]["prompt_progress"] == {
        "total": 10,
        "cache": 2,
        "processed": 6,
        "time_ms": 1,
    }


def test_a_text_completion_streams_text_and_ends_with_reason_and_usage():
    chunks = stream(*STEPS, dialect=TextCompletionAnswer)
    assert [chunk["choices"][0]["text"] for chunk in chunks[:-1]] == ["a", "\nb", ""]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[:-1]] == [None, None, "stop"]
    assert chunks[-2]["usage"]["total_tokens"] == 7
    assert chunks[-1] == "[DONE]"


def test_a_text_completion_has_its_usage_once():
    chunks = stream(*STEPS, dialect=TextCompletionAnswer, include_usage=True)[:-1]
    assert [chunk["choices"] for chunk in chunks if "usage" in chunk] == [[]]


def test_a_whole_text_completion_is_the_joined_stream():
    body = whole(*STEPS, dialect=TextCompletionAnswer)
    assert body["choices"] == [{"text": "a\nb", "index": 0, "logprobs": None, "finish_reason": "stop"}]
    assert body["object"] == "text_completion"
    cut = whole(Step(0, finish=finish(StopType.LIMIT)), dialect=TextCompletionAnswer)
    assert cut["choices"][0]["finish_reason"] == "length"
