"""Every way to reuse state, on real F32 models of each kind of memory: the answer is that of a cold run, within 1e-3.

Each answer's tokens and the log-probabilities of the whole vocabulary are compared with the same request on an empty
engine. The control: a prompt with one other token in its reused part must be further away than that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

import pytest
from support.exact import exact
from support.gguf_vocab import byte_tokens
from support.playing import Said, greedy, play, play_all, running
from support.small_gguf import write_dense, write_hybrid, write_recurrent, write_sliding

from ferrox_gguf.engine.build import build_engine
from ferrox_gguf.engine.loop import EngineLoop
from ferrox_gguf.llama.loaded import LoadedModel

CLOSE = 1e-3
SYSTEM = byte_tokens("You are a careful assistant who answers in few words and never makes anything up. " * 2)
QUESTIONS = [byte_tokens(f"Question {at}: what is {at} and {at + 1} together, and why?\n") for at in range(6)]
WRITERS = {"dense": write_dense, "sliding": write_sliding, "recurrent": write_recurrent, "hybrid": write_hybrid}
CACHES = [*[(kind, True) for kind in WRITERS], ("dense", False)]
"""The kind of memory, and whether all slots have one cache. Where memory cannot be cut they always do."""


@pytest.fixture(
    scope="module", params=CACHES, ids=lambda each: f"{each[0]}, {'one cache' if each[1] else 'a cache a slot'}"
)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedModel]:
    kind, unified = request.param
    path: Path = WRITERS[kind](tmp_path_factory.mktemp("reuse") / f"{kind}.gguf")
    sizes = {"n_ctx": 1024} if unified else {"n_ctx_per_slot": 1024}
    model = LoadedModel.load(exact(path, n_parallel=3, kv_unified=unified, **sizes))
    yield model
    model.close()


def engine_of(loaded: LoadedModel, **changes: object) -> EngineLoop:
    loaded.context.memory.clear_all()
    options: dict[str, object] = {"cache_ram_mib": 64, "clear_idle": True, "checkpoint_step": 100, **changes}
    return build_engine(loaded, **options)  # type: ignore[arg-type]


def cold(loaded: LoadedModel, tokens: Sequence[int]) -> Said:
    """The answer of an engine that remembers nothing and shares nothing."""

    async def main() -> Said:
        async with running(engine_of(loaded, cache_ram_mib=0, checkpoints=0)) as engine:
            return await play(engine, greedy(tokens))

    return asyncio.run(main())


def on(loaded: LoadedModel, script: Callable[[EngineLoop], Awaitable[list[tuple[Sequence[int], Said]]]]) -> list[Said]:
    """Run a script; every answer in it is held against its cold run. The answers."""

    async def main() -> list[tuple[Sequence[int], Said]]:
        async with running(engine_of(loaded)) as engine:
            return await script(engine)

    said = asyncio.run(main())
    for tokens, got in said:
        assert_same(got, cold(loaded, tokens))
    return [got for _, got in said]


def assert_same(got: Said, wanted: Said) -> None:
    assert got.tokens == wanted.tokens
    assert far(got, wanted) < CLOSE


def far(one: Said, other: Said) -> float:
    pairs = zip(one.logprobs, other.logprobs, strict=True)
    return max(abs(of[token] - other_of[token]) for of, other_of in pairs for token in of)


def test_the_comparison_can_fail(loaded: LoadedModel) -> None:
    right = cold(loaded, [*SYSTEM, *QUESTIONS[0]])
    wrong = list(SYSTEM)
    wrong[40] += 1
    other = cold(loaded, [*wrong, *QUESTIONS[0]])
    assert far(other, right) > CLOSE


def test_a_growing_conversation(loaded: LoadedModel) -> None:
    async def script(engine: EngineLoop) -> list[tuple[Sequence[int], Said]]:
        said: list[tuple[Sequence[int], Said]] = []
        tokens = list(SYSTEM)
        for question in QUESTIONS[:4]:
            tokens = [*tokens, *question]
            answer = await play(engine, greedy(tokens))
            said.append((tokens, answer))
            tokens = [*tokens, *answer.tokens]
        return said

    answers = on(loaded, script)
    for answer, question in zip(answers[1:], QUESTIONS[1:], strict=False):
        assert answer.timings.prompt_tokens <= len(question) + 9, "the turns before were read again"


def test_a_conversation_whose_answers_are_rewritten(loaded: LoadedModel) -> None:
    """As templates do that drop the thoughts of earlier turns: each turn forks before the last answer."""

    async def script(engine: EngineLoop) -> list[tuple[Sequence[int], Said]]:
        said: list[tuple[Sequence[int], Said]] = []
        tokens = list(SYSTEM)
        for question in QUESTIONS[:4]:
            tokens = [*tokens, *question]
            said.append((tokens, await play(engine, greedy(tokens))))
            tokens = [*tokens, *byte_tokens("rewritten ")]
        return said

    answers = on(loaded, script)
    for answer, question in zip(answers[1:], QUESTIONS[1:], strict=False):
        assert answer.timings.prompt_tokens <= len(question) + len("rewritten ") + 9


def test_simultaneous_prompts_with_one_beginning(loaded: LoadedModel) -> None:
    async def script(engine: EngineLoop) -> list[tuple[Sequence[int], Said]]:
        prompts = [[*SYSTEM, *question] for question in QUESTIONS[:3]]
        return list(zip(prompts, await play_all(engine, [greedy(tokens) for tokens in prompts]), strict=True))

    answers = on(loaded, script)
    assert sum(answer.timings.prompt_tokens for answer in answers) < len(SYSTEM) + 4 * len(QUESTIONS[0])


def test_one_beginning_and_one_question_after_another(loaded: LoadedModel) -> None:
    async def script(engine: EngineLoop) -> list[tuple[Sequence[int], Said]]:
        prompts = [[*SYSTEM, *question] for question in QUESTIONS]
        return [(tokens, await play(engine, greedy(tokens))) for tokens in prompts]

    answers = on(loaded, script)
    assert all(answer.timings.cache_tokens >= 100 for answer in answers[2:])


def test_several_answers_to_one_prompt(loaded: LoadedModel) -> None:
    async def script(engine: EngineLoop) -> list[tuple[Sequence[int], Said]]:
        tokens = [*SYSTEM, *QUESTIONS[0]]
        return [(tokens, said) for said in await play_all(engine, [greedy(tokens)] * 3)]

    answers = on(loaded, script)
    assert sum(answer.timings.prompt_tokens for answer in answers) <= len(SYSTEM) + len(QUESTIONS[0]) + 2 * 8


def test_evicted_prompts_come_back_from_memory(loaded: LoadedModel) -> None:
    """More conversations than slots, taking turns."""

    async def script(engine: EngineLoop) -> list[tuple[Sequence[int], Said]]:
        said: list[tuple[Sequence[int], Said]] = []
        texts = [byte_tokens(f"{at}. A conversation of its own about the number {at}. " * 3) for at in range(6)]
        for turn in range(2):
            for at, tokens in enumerate(texts):
                answer = await play(engine, greedy(tokens))
                said.append((tokens, answer))
                texts[at] = [*tokens, *answer.tokens, *QUESTIONS[turn]]
        assert engine.stats().restored_tokens > 0
        return said

    answers = on(loaded, script)
    assert all(answer.timings.cache_tokens > 100 for answer in answers[6:])


def test_a_prompt_that_was_read_before_is_not_served_anothers_state(loaded: LoadedModel) -> None:
    """Content decides, not place: prompts that differ in their first token share nothing."""

    async def script(engine: EngineLoop) -> list[tuple[Sequence[int], Said]]:
        prompts = [[first, *SYSTEM[1:], *QUESTIONS[0]] for first in byte_tokens("abcdefab")]
        return [(tokens, await play(engine, greedy(tokens))) for tokens in prompts]

    answers = on(loaded, script)
    assert all(answer.timings.cache_tokens == 0 for answer in answers[:6])
    assert all(answer.timings.cache_tokens > 0 for answer in answers[6:])


def test_long_prompts_that_share_half_of_it(loaded: LoadedModel) -> None:
    long = byte_tokens("A long text that goes far beyond the window of the model, word after word. " * 4)

    async def script(engine: EngineLoop) -> list[tuple[Sequence[int], Said]]:
        prompts = [[*long[:200], *question, *long[200:]] for question in QUESTIONS[:4]]
        return [(tokens, await play(engine, greedy(tokens))) for tokens in prompts]

    answers = on(loaded, script)
    assert all(answer.timings.cache_tokens >= 200 for answer in answers[2:])
