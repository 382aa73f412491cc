"""One loaded model, assembled: everything a request needs on its way from a value to a Run.

Rendering and tokenising happen on worker threads, so that a long prompt does not stop the streams beside it; all else
is event loop.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from ferrox_gguf.engine.contract import Engine, Guide, SequenceRequest
from ferrox_gguf.events import Step
from ferrox_gguf.output.chain import OutputChain
from ferrox_gguf.output.detokenizer import PieceTable
from ferrox_gguf.posture.values import Posture
from ferrox_gguf.request import (
    RANDOM_SEED,
    ChatRequest,
    CompletionRequest,
    Generation,
    InfillRequest,
    LoraScale,
    Prompt,
    Sampling,
)
from ferrox_gguf.runtime.adapters import Adapters
from ferrox_gguf.runtime.budget import ThoughtBudget
from ferrox_gguf.runtime.chat import Conversation, render
from ferrox_gguf.runtime.choice import Choice
from ferrox_gguf.runtime.constraints import Constraints
from ferrox_gguf.runtime.guides import combined
from ferrox_gguf.runtime.infill import FillLimits, fill_prompt, fill_tokens
from ferrox_gguf.runtime.prompt import whole_prompt
from ferrox_gguf.runtime.reader import Reader
from ferrox_gguf.runtime.run import Run
from ferrox_gguf.runtime.step_queue import StepQueue
from ferrox_gguf.runtime.vocabulary import Vocabulary
from ferrox_gguf.runtime.voice import Voices
from ferrox_gguf.settings import Settings

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Job:
    """Sequences to start: every prompt n times.

    reader: makes the machine that reads one sequence.  constraint: makes what holds one to a grammar.
    budget: makes what bounds one's thought.  one_call: an answer ends where a second call begins.
    """

    prompts: Sequence[tuple[int, ...]]
    generation: Generation
    reader: Callable[[], Reader]
    constraint: Callable[[], Guide] | None = None
    budget: Callable[[], ThoughtBudget] | None = None
    one_call: bool = False


class ServedModel:
    """Turns requests into Runs. aside: where blocking work goes.  fill: bounds of a prompt around a cursor."""

    def __init__(
        self,
        *,
        settings: Settings,
        vocabulary: Vocabulary,
        engine: Engine,
        voices: Voices,
        constraints: Constraints,
        aside: ThreadPoolExecutor,
        adapters: Adapters | None = None,
        fill: FillLimits | None = None,
    ) -> None:
        self.vocabulary, self.engine, self.voices = vocabulary, engine, voices
        self.adapters = adapters or Adapters()
        self._settings, self._constraints, self._aside = settings, constraints, aside
        self._fill = fill or FillLimits(settings.context.n_batch, settings.context.n_ctx, settings.spm_infill)
        # A table belongs to one thread: readers run on the event loop, budgets in the engine's thread.
        self._pieces, self._engine_pieces = PieceTable(vocabulary), PieceTable(vocabulary)
        self._groups = itertools.count()

    async def complete(self, request: CompletionRequest, *, wants_progress: bool = False) -> Run:
        """Start raw prompts. Raises before anything is queued when one of them cannot be served."""
        return self._start(await self.aside(lambda: self._completion_job(request)), wants_progress)

    def require_infill(self) -> None:
        """Raises NotSupported, naming the tokens that are missing, for a model that was not trained to fill in."""
        fill_tokens(self.vocabulary)

    async def infill(self, request: InfillRequest, *, wants_progress: bool = False) -> Run:
        """Start what stands between two texts. Raises NotSupported for a model without the tokens for it."""

        def job() -> Job:
            tokens = fill_prompt(request, self.vocabulary, self._fill)
            return self._completion_job(CompletionRequest((Prompt(tokens),), request.generation))

        return self._start(await self.aside(job), wants_progress)

    async def render(self, request: ChatRequest) -> Conversation:
        """The prompt of a conversation and how its answer will be read. Raises what the template says against it."""
        settings = self._settings
        return await self.aside(lambda: render(request, self.voices, settings.chat, show_special=settings.show_special))

    async def chat(self, conversation: Conversation, *, wants_progress: bool = False, echo: bool = False) -> Run:
        """Start the answers to a rendered conversation. echo: each begins with the message that it continues."""
        run = self._start(await self.aside(lambda: self._chat_job(conversation)), wants_progress)
        events = conversation.continued() if echo else ()
        for choice in range(len(run.prompt_tokens) if events else 0):
            run.queue.put(Step(choice, events))
        return run

    def tokens(self, conversation: Conversation) -> tuple[int, ...]:
        """The prompt's ids. Blocks in proportion to its length."""
        return tuple(self.vocabulary.tokenize(conversation.prompt.text, add_special=True, parse_special=True))

    def text(self, tokens: Sequence[int]) -> str:
        """Tokens as a client reads them, markers included."""
        return self.vocabulary.detokenize(tokens).decode(errors="replace")

    def _completion_job(self, request: CompletionRequest) -> Job:
        generation = request.generation
        prompts = [whole_prompt(prompt, self.vocabulary) for prompt in request.prompts]
        constraint = self._constraints.of_text(generation.grammar)

        def reader() -> Reader:
            chain = OutputChain(Posture(), stops=generation.stop, special=self._settings.show_special)
            return Reader(self._pieces, chain)

        return Job(prompts, generation, reader, constraint)

    def _chat_job(self, conversation: Conversation) -> Job:
        return Job(
            [self.tokens(conversation)],
            conversation.request.generation,
            lambda: conversation.reader(self._pieces),
            self._constraints.of_chat(conversation),
            conversation.budget(self.vocabulary, self._engine_pieces),
            conversation.request.parallel_tool_calls is False,
        )

    def close(self) -> None:
        """Give the threads back; blocks while they work. They read the vocabulary, which must stay until then."""
        self._aside.shutdown(wait=True, cancel_futures=True)

    async def aside(self, work: Callable[[], Made]) -> Made:
        """Run blocking work on a thread of its own."""
        return await asyncio.get_running_loop().run_in_executor(self._aside, work)

    def _start(self, job: Job, wants_progress: bool) -> Run:
        """Submit every sequence of the job, or none."""
        group, lora = f"request-{next(self._groups)}", self.adapters.of(job.generation.lora)
        prompts = [prompt for prompt in job.prompts for _ in range(job.generation.n)]
        run = Run(StepQueue(len(prompts)), tuple(map(len, prompts)), lambda choice: self.text(prompts[choice]))
        try:
            for index, prompt in enumerate(prompts):
                nth = index % job.generation.n
                self._submit(job, run, index, sequence_request(job, prompt, nth, group, lora, wants_progress))
        except BaseException:
            run.cancel()
            raise
        return run

    def _submit(self, job: Job, run: Run, index: int, request: SequenceRequest) -> None:
        budget = job.budget() if job.budget else None
        constraint = job.constraint() if job.constraint else None
        handle: list[int] = []

        def cancel() -> None:
            if handle:
                self.engine.cancel(handle[0])

        choice = Choice(
            index,
            queue=run.queue,
            reader=job.reader(),
            generation=job.generation,
            prompt_tokens=len(request.tokens),
            cancel=cancel,
            piece=self.vocabulary.piece,
            one_call=job.one_call,
        )
        handle.append(self.engine.submit(replace(request, guide=combined(budget, constraint)), choice.sink))
        run.cancels.append(cancel)
        if budget:
            run.budgets.append(budget)


def sequence_request(
    job: Job, prompt: tuple[int, ...], nth: int, group: str, lora: tuple[LoraScale, ...], wants_progress: bool
) -> SequenceRequest:
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
        t_max_predict_ms=max(0, generation.t_max_predict_ms),
        lora=lora,
        group=group if generation.n > 1 else "",
        wants_progress=wants_progress,
    )


def nth_sampling(sampling: Sampling, nth: int) -> Sampling:
    """A seed of its own for each of n, or they would all say the same; reproducible when the client chose one."""
    if nth == 0 or sampling.seed == RANDOM_SEED:
        return sampling
    return replace(sampling, seed=(sampling.seed + nth) & RANDOM_SEED)
