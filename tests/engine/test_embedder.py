"""The embedder: packing, order, fairness, faults."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrox_gguf.engine.embedder import Embedder, Vectors
from ferrox_gguf.errors import FerroxError, GenerationFailed, Unavailable

WAIT = 10


class Told:
    """A request's outcome, awaited."""

    def __init__(self) -> None:
        self._there = threading.Event()
        self.outcome: Sequence[Vectors] | FerroxError | None = None

    def __call__(self, outcome: Sequence[Vectors] | FerroxError) -> None:
        assert self.outcome is None, "told twice"
        self.outcome = outcome
        self._there.set()

    def vectors(self) -> list[float]:
        assert self._there.wait(WAIT)
        assert not isinstance(self.outcome, FerroxError)
        assert self.outcome is not None
        return [float(vectors[0, 0]) for vectors in self.outcome]

    def error(self) -> FerroxError:
        assert self._there.wait(WAIT)
        assert isinstance(self.outcome, FerroxError)
        return self.outcome


class Scripted:
    """Reads an input as the sum of its ids; remembers its batches; stumbles over id 666; may be held."""

    def __init__(self, n_tokens: int = 16, n_inputs: int = 4, longest: int = 0) -> None:
        self.n_tokens, self.n_inputs, self.longest = n_tokens, n_inputs, longest or n_tokens
        self.batches: list[list[tuple[int, ...]]] = []
        self.free = threading.Event()
        self.free.set()
        self.reading = threading.Event()

    def embed(self, inputs: Sequence[Sequence[int]]) -> list[Vectors]:
        self.reading.set()
        assert self.free.wait(WAIT)
        self.batches.append([tuple(tokens) for tokens in inputs])
        if any(666 in tokens for tokens in inputs):
            raise RuntimeError("stumbled")
        return [np.array([[sum(tokens)]], np.float32) for tokens in inputs]


def run(context: Scripted) -> Embedder:
    embedder = Embedder(context)
    embedder.start()
    return embedder


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=16), min_size=1, max_size=9), max_size=6))
def test_every_request_gets_its_own_results_in_order_and_no_batch_overflows(requests: list[list[list[int]]]) -> None:
    context = Scripted()
    embedder = run(context)
    told = [Told() for _ in requests]
    for inputs, done in zip(requests, told, strict=True):
        embedder.submit(inputs, done)
    assert [done.vectors() for done in told] == [[sum(tokens) for tokens in inputs] for inputs in requests]
    embedder.stop()
    assert all(len(batch) <= context.n_inputs for batch in context.batches)
    assert all(sum(map(len, batch)) <= context.n_tokens for batch in context.batches)


def test_a_request_of_one_input_does_not_wait_for_one_of_thousands() -> None:
    context = Scripted()
    context.free.clear()
    embedder = run(context)
    many, one = Told(), Told()
    embedder.submit([[1]] * 4000, many)
    assert context.reading.wait(WAIT)
    embedder.submit([[2]], one)
    context.free.set()
    assert one.vectors() == [2]
    assert many.vectors() == [1] * 4000
    embedder.stop()
    assert (2,) in context.batches[1]


def test_an_input_longer_than_a_batch_is_read_alone() -> None:
    context = Scripted(n_tokens=4, longest=10)
    embedder = run(context)
    told = Told()
    embedder.submit([[1], [2] * 9, [3], [4]], told)
    assert told.vectors() == [1, 18, 3, 4]
    embedder.stop()
    assert [len(batch) for batch in context.batches if (2,) * 9 in batch] == [1]


def test_an_input_that_fails_touches_no_other_request_of_its_batch() -> None:
    context = Scripted()
    context.free.clear()
    embedder = run(context)
    first, bad, good = Told(), Told(), Told()
    embedder.submit([[1]], first)
    assert context.reading.wait(WAIT)
    embedder.submit([[666]], bad)
    embedder.submit([[3], [4]], good)
    context.free.set()
    assert good.vectors() == [3, 4]
    assert isinstance(bad.error(), GenerationFailed)
    embedder.stop()


def test_a_cancelled_request_is_not_told_and_not_read_further() -> None:
    context = Scripted(n_inputs=1)
    context.free.clear()
    embedder = run(context)
    gone, after = Told(), Told()
    handle = embedder.submit([[1]] * 100, gone)
    assert context.reading.wait(WAIT)
    embedder.cancel(handle)
    embedder.submit([[5]], after)
    context.free.set()
    assert after.vectors() == [5]
    embedder.stop()
    assert gone.outcome is None
    assert len(context.batches) <= 3


def test_a_full_queue_refuses_and_a_stopped_embedder_too() -> None:
    context = Scripted()
    context.free.clear()
    embedder = Embedder(context, queue_limit=1)
    embedder.start()
    embedder.submit([[1]], Told())
    with pytest.raises(Unavailable):
        embedder.submit([[1]], Told())
    context.free.set()
    embedder.stop()
    with pytest.raises(Unavailable):
        embedder.submit([[1]], Told())
