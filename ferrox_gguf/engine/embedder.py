"""Embeddings: whole inputs packed into batches, read in one pass each, nothing remembered.

Its own small engine beside the generating one: an embedding context never samples, and inputs are never cut to fill a
batch (a pooled or non-causal embedding of half an input would be another number). One thread owns the context here too.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from ferrox_gguf.errors import FerroxError, GenerationFailed, Unavailable

logger = logging.getLogger(__name__)

Vectors: TypeAlias = NDArray[np.float32]
"""One input's result: (1, width) pooled, (tokens, width) without pooling."""

Done: TypeAlias = Callable[[Union[Sequence[Vectors], FerroxError]], None]
"""Called once in the embedder's thread: a result for every input, in order, or what went wrong."""


class EmbeddingContext(Protocol):
    """What the embedder asks of `llama/`: read these inputs together and return their vectors.

    n_tokens: tokens of one batch.  n_inputs: inputs of one batch.
    longest: tokens of one input; an input that is longer than a batch is handed over alone.
    """

    @property
    def n_tokens(self) -> int: ...
    @property
    def n_inputs(self) -> int: ...
    @property
    def longest(self) -> int: ...
    def embed(self, inputs: Sequence[Sequence[int]]) -> list[Vectors]: ...


@dataclass(slots=True)
class ReadingCounters:
    """Running totals, written by the embedder's thread alone. read_ms: time inside batches.  inputs: read so far."""

    tokens: int = 0
    inputs: int = 0
    batches: int = 0
    read_ms: float = 0.0


@dataclass(slots=True)
class _Job:
    """One request. results: None where an input has not been read yet."""

    inputs: Sequence[Sequence[int]]
    done: Done
    results: list[Vectors | None] = field(default_factory=list)
    taken: int = 0
    read: int = 0
    cancelled: bool = False


class Embedder:
    """Jobs take turns input by input, so that one of thousands does not hold up one of one."""

    def __init__(self, context: EmbeddingContext, *, queue_limit: int = 512) -> None:
        self.counters = ReadingCounters()
        self._context, self._queue_limit = context, queue_limit
        self._jobs: deque[_Job] = deque()
        self._running: dict[int, _Job] = {}
        self._handles = count(1)
        self._wake = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="ferrox-embedder", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float | None = None) -> bool:
        """Let the batch that runs end, drop the rest. False when it had not ended in time."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def submit(self, inputs: Sequence[Sequence[int]], done: Done) -> int:
        """Queue a request of at least one input, each of 1 to `longest` ids; never blocks. Raises Unavailable."""
        assert inputs, "an embedding request has at least one input"
        assert all(0 < len(tokens) <= self._context.longest for tokens in inputs), "an input is too long"
        with self._wake:
            if self._stopping or len(self._running) >= self._queue_limit:
                raise Unavailable("the server is busy: too many embedding requests are waiting")
            handle, job = next(self._handles), _Job(inputs, done, [None] * len(inputs))
            self._running[handle] = job
            self._jobs.append(job)
            self._wake.notify()
        return handle

    def cancel(self, handle: int) -> None:
        """Forget a request; `done` is not called if it has not been yet."""
        with self._wake:
            job = self._running.pop(handle, None)
            if job is not None:
                job.cancelled = True

    def _run(self) -> None:
        while True:
            with self._wake:
                batch = self._next_batch()
                while not batch and not self._stopping:
                    self._wake.wait()
                    batch = self._next_batch()
                if self._stopping:
                    return
            self._read(batch)

    def _next_batch(self) -> list[tuple[_Job, int]]:
        """The next inputs that fit together, one from each job in turn."""
        batch: list[tuple[_Job, int]] = []
        tokens = 0
        while self._jobs and len(batch) < self._context.n_inputs:
            job = self._jobs[0]
            if job.cancelled:
                self._jobs.popleft()
                continue
            size = len(job.inputs[job.taken])
            if batch and tokens + size > self._context.n_tokens:
                break
            batch.append((job, job.taken))
            tokens += size
            job.taken += 1
            self._jobs.popleft()
            if job.taken < len(job.inputs):
                self._jobs.append(job)
        return batch

    @property
    def waiting(self) -> int:
        """Requests that have not been answered yet."""
        return len(self._running)

    def _read(self, batch: list[tuple[_Job, int]]) -> None:
        try:
            results = self._embed([job.inputs[index] for job, index in batch])
        except Exception:
            logger.exception("a batch of %d inputs could not be embedded", len(batch))
            self._retry(batch)
            return
        self._deliver(zip(batch, results, strict=True))

    def _embed(self, inputs: Sequence[Sequence[int]]) -> list[Vectors]:
        began = time.perf_counter()
        results = self._context.embed(inputs)
        counters = self.counters
        counters.read_ms += 1000.0 * (time.perf_counter() - began)
        counters.tokens += sum(map(len, inputs))
        counters.inputs += len(inputs)
        counters.batches += 1
        return results

    def _retry(self, batch: list[tuple[_Job, int]]) -> None:
        """One input's fault must not touch another's request: each is read alone."""
        for job, index in batch:
            if job.cancelled:
                continue
            try:
                result = self._embed([job.inputs[index]])[0]
            except Exception as error:
                logger.exception("an input of %d tokens could not be embedded", len(job.inputs[index]))
                self._finish(job, GenerationFailed(f"input {index} could not be embedded: {error}"))
            else:
                self._deliver([((job, index), result)])

    def _deliver(self, results: Iterable[tuple[tuple[_Job, int], Vectors]]) -> None:
        for (job, index), vectors in results:
            job.results[index] = vectors
            job.read += 1
            if job.read == len(job.inputs):
                self._finish(job, [result for result in job.results if result is not None])

    def _finish(self, job: _Job, outcome: Sequence[Vectors] | FerroxError) -> None:
        with self._wake:
            if job.cancelled:
                return
            job.cancelled = True
            self._running = {handle: one for handle, one in self._running.items() if one is not job}
        job.done(outcome)
