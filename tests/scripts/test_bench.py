"""The parts of `make bench` that need no server: reading answers with their times, pairs, targets, the table."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from bench_server.client import Answer, BadAnswer, read_answer
from bench_server.measures import decode_rate, percentile, token_ms, total_rate
from bench_server.metrics import Compare, Metric, at_least, at_most, make_row
from bench_server.peers import llama_cpp_server
from bench_server.process import Peer
from bench_server.prompts import words
from bench_server.report import table
from bench_server.runner import Measured
from bench_server.scenario import Scenario
from hypothesis import given
from hypothesis import strategies as st

import bench


def frame(text: str = "", **fields: object) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": {"content": text}}], **fields}).encode() + b"\n\n"


def response(*frames: bytes, chunked: bool) -> bytes:
    if not chunked:
        return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + b"".join(frames)
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(each), each) for each in frames)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"


LAST = frame(timings={"predicted_n": 5, "prompt_n": 11, "cache_n": 3})
DONE = b"data: [DONE]\n\n"


@pytest.mark.parametrize("chunked", [True, False])
@given(cuts=st.lists(st.integers(1, 400), max_size=20))
def test_an_answer_reads_the_same_wherever_the_network_cut_it(chunked, cuts):
    raw = response(frame("one "), b": ping\n\n", frame("two"), LAST, DONE, chunked=chunked)
    edges = [0, *sorted({min(cut, len(raw)) for cut in cuts}), len(raw)]
    segments = [(float(at), raw[a:b]) for at, (a, b) in enumerate(pairwise(edges))]
    answer = read_answer(0.0, segments)
    assert (answer.text, answer.tokens, answer.prompt_read, answer.cached) == ("one two", 5, 11, 3)
    assert len(answer.arrivals) == 2


@pytest.mark.parametrize("chunked", [True, False])
def test_a_frame_has_come_when_its_last_byte_has(chunked):
    raw = response(frame("one "), frame("two"), DONE, chunked=chunked)
    inside_second = raw.index(b"two")
    answer = read_answer(1.0, [(2.0, raw[:inside_second]), (5.0, raw[inside_second:])])
    assert answer.arrivals == (2.0, 5.0)
    assert answer.first == 1.0
    assert answer.gaps == [3.0]


def test_without_a_count_from_the_server_the_frames_with_text_are_counted():
    assert read_answer(0.0, [(1.0, response(frame(), frame("a"), frame("b"), DONE, chunked=True))]).tokens == 2


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"HTTP/1.1 500 Internal Server Error\r\n\r\n{}",
        response(b'data: {"error": {"message": "no"}}\n\n', chunked=True),
        response(DONE, chunked=True),
    ],
)
def test_what_is_no_answer_is_an_error_and_never_a_number(raw):
    with pytest.raises(BadAnswer):
        read_answer(0.0, [(1.0, raw)])


def answer(began: float, *arrivals: float) -> Answer:
    return Answer(began, arrivals, "", tokens=len(arrivals))


def test_writing_is_measured_from_the_first_token_and_the_whole_from_the_first_request():
    answers = [answer(0.0, 2.0, 3.0, 4.0), answer(0.0, 2.0, 6.0)]
    assert decode_rate(answers) == 3 / 4
    assert total_rate(answers) == 5 / 6
    assert token_ms([answers[0]]) == 1000.0


@given(st.lists(st.floats(0, 100), min_size=1))
def test_a_percentile_is_a_value_that_so_many_do_not_exceed(values):
    found = percentile(values, 0.99)
    assert found in values
    assert sum(value <= found for value in values) >= 0.99 * len(values)


SPEED = Metric("speed", "tok/s", Compare.RATIO, at_least(0.95))


def test_sides_are_compared_pair_by_pair_so_a_slow_minute_does_not_decide():
    row = make_row("x", SPEED, "llama-server", [100, 10, 100], [100, 10, 100], judged=True)
    assert (row.value, row.low, row.high, row.met) == (1.0, 1.0, 1.0, True)
    drifting = make_row("x", SPEED, "llama-server", [90, 9, 45], [100, 10, 50], judged=True)
    assert drifting.value == pytest.approx(0.9)
    assert drifting.met is False


def test_differences_have_their_sign_and_a_bound_that_counts_as_met():
    start = Metric("start", "s", Compare.DIFFERENCE, at_most(1.0))
    assert make_row("x", start, "llama-server", [2.0], [1.0], judged=True).met is True
    late = make_row("x", start, "llama-server", [2.5], [1.0], judged=True)
    assert (late.value, late.met) == (1.5, False)


def test_only_what_the_targets_speak_of_is_judged():
    assert make_row("x", SPEED, "llama_cpp.server", [1], [2], judged=False).met is None
    assert make_row("x", SPEED, "", [1], [], judged=True).met is None
    own = Metric("cost", "x", Compare.OWN, at_most(1.1))
    assert make_row("x", own, "llama-server", [1.2], [3.0], judged=True).met is False


async def nothing(server, occasion, sizes):
    return {}


def test_the_table_has_a_line_for_each_row_and_says_what_was_missed():
    scenario = Scenario("decode-8", (SPEED,), nothing)
    measured = Measured(scenario, {"ferrox-server": [{"speed": 90.0}], "llama-server": [{"speed": 100.0}]})
    heading, rule, line = table(measured.rows()).splitlines()
    assert heading.split()[:2] == ["scenario", "what"]
    assert set(rule) == {"-"}
    assert "0.90 x" in line
    assert line.endswith(">= 0.95  MISSED")


def test_every_target_of_the_project_is_in_the_table():
    targets = {
        f"{scenario.name}: {metric.name}": str(metric.target)
        for scenario in bench.SCENARIOS.values()
        for metric in scenario.metrics
        if metric.target
    }
    assert targets == {
        "decode-1: tokens a second": ">= 0.95",
        "decode-8: tokens a second": ">= 0.95",
        "shared: time to first token": "<= 0.35",
        "shared: tokens a second": ">= 3",
        "mixed: p99 between tokens": "<= 0.2",
        "mixed: tokens a second": ">= 0.95",
        "turns: prompt tokens read after turn 1": "<= 1",
        "json: constrained tokens a second": ">= 1",
        "json-gemma: constrained tokens a second": ">= 1",
        "json-gemma: cost of the schema": "<= 1.1",
        "start-up: time to healthy": "<= 1",
        "memory: resident memory": "<= 200",
        "front: token events a second": ">= 25,000",
    }


def test_an_occasion_has_its_own_words_and_always_the_same():
    assert words("shared-pair 1", 430) == words("shared-pair 1", 430)
    assert words("shared-pair 1", 430) != words("shared-pair 2", 430)
    assert len(words("shared-pair 1", 430).split()) == 430


def test_flags_are_spelled_as_each_server_takes_them(monkeypatch):
    monkeypatch.setattr("bench_server.peers.llama_cpp_python", lambda: Path("python"))
    flags = ("-m", "x.gguf", "-t", "2", "-np", "8", "--port", "1")
    assert Peer("a", ("server",)).arguments(flags) == ["server", *flags]
    assert llama_cpp_server().arguments(flags)[5:] == ["--model", "x.gguf", "--n_threads", "2", "--port", "1"]
