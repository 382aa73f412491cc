"""One loaded model, assembled: everything a request needs on its way from a value to a Run.

Rendering and tokenising happen on worker threads, so that a long prompt does not stop the streams beside it; all else
is event loop.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TypeVar

from ferrox_gguf.engine.contract import Engine, Guide, SequenceRequest
from ferrox_gguf.request import RANDOM_SEED, CompletionRequest, Generation, Sampling
from ferrox_gguf.runtime.choice import Choice
from ferrox_gguf.runtime.limits import TextLimits
from ferrox_gguf.runtime.prompt import whole_prompt
from ferrox_gguf.runtime.reader import Reader
from ferrox_gguf.runtime.run import Run
from ferrox_gguf.runtime.step_queue import StepQueue
from ferrox_gguf.runtime.vocabulary import Vocabulary

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Job:
    """Sequences to start: every prompt n times.

    reader: makes the machine that reads one sequence.  guide: makes what steers one, or None.
    """

    prompts: Sequence[tuple[int, ...]]
    generation: Generation
    reader: Callable[[], Reader]
    guide: Callable[[], Guide | None] = lambda: None
    wants_progress: bool = False


class ServedModel:
    """Turns requests into Runs. aside: where blocking work goes."""

    def __init__(
        self,
        *,
        vocabulary: Vocabulary,
        engine: Engine,
        raw_reader: Callable[[Generation], Reader],
        aside: Executor,
    ) -> None:
        self.vocabulary, self.engine = vocabulary, engine
        self._raw_reader, self._aside = raw_reader, aside
        self._groups = itertools.count()
        self._runs: set[Run] = set()

    async def complete(self, request: CompletionRequest, *, wants_progress: bool = False) -> Run:
        """Start raw prompts. Raises before anything is queued when one of them cannot be served."""
        generation = request.generation
        prompts = await self.aside(lambda: [whole_prompt(prompt, self.vocabulary) for prompt in request.prompts])
        return self.start(Job(prompts, generation, lambda: self._raw_reader(generation), wants_progress=wants_progress))

    async def aside(self, work: Callable[[], Made]) -> Made:
        """Run blocking work on a thread of its own."""
        return await asyncio.get_running_loop().run_in_executor(self._aside, work)

    def start(self, job: Job) -> Run:
        """Submit every sequence of the job, or none."""
        group = f"request-{next(self._groups)}"
        prompts = [prompt for prompt in job.prompts for _ in range(job.generation.n)]
        queue = StepQueue(len(prompts))
        run = Run(queue, tuple(map(len, prompts)), lambda choice: self.text(prompts[choice]))
        try:
            for index, prompt in enumerate(prompts):
                self._submit(job, run, index, prompt, group)
        except BaseException:
            run.cancel()
            raise
        return run

    def text(self, tokens: Sequence[int]) -> str:
        """Tokens as a client reads them, markers included."""
        return self.vocabulary.detokenize(tokens).decode(errors="replace")

    def _submit(self, job: Job, run: Run, index: int, prompt: tuple[int, ...], group: str) -> None:
        handle: list[int] = []

        def cancel() -> None:
            if handle:
                self.engine.cancel(handle[0])

        choice = Choice(
            index,
            queue=run.queue,
            reader=job.reader(),
            limits=TextLimits(job.generation),
            prompt_tokens=len(prompt),
            cancel=cancel,
            piece=self.vocabulary.piece,
        )
        request = sequence_request(job, prompt, index % job.generation.n, group)
        handle.append(self.engine.submit(request, choice.sink))
        run.cancels.append(cancel)


def sequence_request(job: Job, prompt: tuple[int, ...], nth: int, group: str) -> SequenceRequest:
    """The engine's view of the nth sequence of a prompt."""
    generation = job.generation
    return SequenceRequest(
        tokens=prompt,
        sampling=nth_sampling(generation.sampling, nth),
        max_tokens=generation.max_tokens,
        n_probs=generation.n_probs,
        post_sampling_probs=generation.post_sampling_probs,
        cache_prompt=generation.cache_prompt,
        # One slot cannot hold two sequences, so only the first of several keeps the client's choice.
        id_slot=generation.id_slot if nth == 0 else -1,
        n_keep=generation.n_keep,
        n_discard=generation.n_discard,
        n_cache_reuse=generation.n_cache_reuse,
        lora=generation.lora or (),
        guide=job.guide(),
        group=group if generation.n > 1 else "",
        wants_progress=job.wants_progress,
    )


def nth_sampling(sampling: Sampling, nth: int) -> Sampling:
    """A seed of its own for each of n, or they would all say the same; reproducible when the client chose one."""
    if nth == 0 or sampling.seed == RANDOM_SEED:
        return sampling
    return replace(sampling, seed=(sampling.seed + nth) & RANDOM_SEED)
