"""Which prompts are read together, and that a whole engine answers as if they had not been."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.apart import model_with_caches_apart
from support.gguf_vocab import byte_tokens
from support.playing import greedy, play, play_all, running
from support.stepping import Stepper, request

from ferrox_gguf.engine import build as build_module
from ferrox_gguf.engine import executor as executor_module
from ferrox_gguf.engine.build import build_engine
from ferrox_gguf.engine.contract import SequenceRequest
from ferrox_gguf.engine.executor import LlamaExecutor
from ferrox_gguf.engine.gathering import Reader, gather
from ferrox_gguf.engine.layout import Layout
from ferrox_gguf.engine.loop import EngineLoop
from ferrox_gguf.engine.plan import BatchPlan, Outcome
from ferrox_gguf.engine.sequence import Sequence
from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.llama.room import RoomFailed
from ferrox_gguf.request import LoraScale

SHARED = list(range(1000, 1300))


def reader(handle: int, rest: int, held: int = len(SHARED), whole: bool = True) -> Reader:
    tokens = [*SHARED, *(10 * handle + at for at in range(rest))]
    return Reader(Sequence(handle, request(tokens)), held, whole)


def handles(found: tuple[int, list[Reader]]) -> list[int]:
    return [each.sequence.handle for each in found[1]]


def test_short_rests_behind_the_same_beginning_are_read_together() -> None:
    readers = [reader(handle, 30) for handle in range(3)]
    assert handles(gather(readers, 128, 2048)) == [0, 1, 2]
    assert gather(readers, 128, 2048)[0] == len(SHARED)


def test_what_would_not_fill_a_tile_is_not_gathered() -> None:
    assert handles(gather([reader(handle, 20) for handle in range(3)], 128, 2048)) == []
    assert handles(gather([reader(handle, 60) for handle in range(2)], 128, 2048)) == []


def test_more_than_fit_are_read_in_equal_parts() -> None:
    assert handles(gather([reader(handle, 26) for handle in range(6)], 130, 2048)) == [0, 1, 2]
    assert handles(gather([reader(handle, 26) for handle in range(7)], 130, 2048)) == [0, 1, 2, 3]
    # Three and two would leave two that are read by themselves.
    assert handles(gather([reader(handle, 26) for handle in range(5)], 104, 2048)) == [0, 1, 2]


def test_a_long_prompt_that_came_first_is_read_first() -> None:
    others = [reader(handle, 30) for handle in range(1, 4)]
    assert handles(gather([reader(0, 500), *others], 128, 2048)) == []
    assert handles(gather([reader(0, 30, whole=False), *others], 128, 2048)) == []
    assert handles(gather([*others, reader(4, 500)], 128, 2048)) == [1, 2, 3]


def test_a_token_that_two_prompts_have_in_common_by_chance_is_read_again() -> None:
    readers = [reader(0, 30, len(SHARED) + 1), reader(1, 30), reader(2, 30, len(SHARED) + 2)]
    assert (len(SHARED), [0, 1, 2]) == (gather(readers, 128, 2048)[0], handles(gather(readers, 128, 2048)))
    assert handles(gather([reader(0, 40, len(SHARED) + 20), *readers[1:]], 128, 2048)) == []


@given(
    st.lists(st.tuples(st.integers(1, 80), st.integers(-12, 12), st.booleans()), min_size=1, max_size=9),
    st.integers(0, 300),
    st.integers(0, 500),
)
def test_those_who_read_together_share_the_beginning_fit_and_are_worth_it(
    each: list[tuple[int, int, bool]], most: int, room: int
) -> None:
    readers = [reader(at, rest, len(SHARED) - 12 + back, whole) for at, (rest, back, whole) in enumerate(each)]
    length, chosen = gather(readers, most, room)
    if not chosen:
        return
    rests = [len(one.sequence.tokens) - length for one in chosen]
    assert chosen[0] is readers[0]
    assert 64 <= sum(rests) <= min(most, room - length)
    assert len(chosen) >= 3
    for one in chosen:
        assert one.whole
        assert 0 <= one.held - length <= 8
        assert one.sequence.tokens[:length] == readers[0].sequence.tokens[:length]


LAYOUT = Layout(n_slots=4, n_cells=4096, slot_context=1024, shares_cells=False, room=1024)


def questions(count: int, rest: int = 30) -> list[list[int]]:
    return [[*SHARED, *(5000 + 100 * number + at for at in range(rest))] for number in range(count)]


def test_a_step_that_reads_together_says_which_rows_and_behind_what() -> None:
    stepper = Stepper(LAYOUT)
    stepper.submit([*SHARED, 7], max_tokens=1)
    stepper.run()
    asked = [stepper.submit(tokens, max_tokens=4) for tokens in questions(3)]
    plan = stepper.step()
    assert plan.gathered is not None
    assert plan.gathered.prefix == tuple(SHARED)
    assert plan.gathered.sequences == set(asked)
    assert sorted(len(row.tokens) for row in plan.rows) == [30, 30, 30]
    stepper.run()
    for handle, tokens in zip(asked, questions(3), strict=True):
        assert stepper.said(handle) == [stepper.executor.script(request(tokens), at) for at in range(4)]


def test_a_slot_that_holds_a_token_more_reads_it_again_and_says_so() -> None:
    stepper = Stepper(LAYOUT)
    first, second, third = questions(3)
    stepper.submit([*SHARED, 7], max_tokens=1)
    stepper.run()
    stepper.submit([*SHARED, first[300], 8], max_tokens=1)
    stepper.run()
    asked = [stepper.submit(tokens, max_tokens=2) for tokens in (first, second, third)]
    plan = stepper.step()
    assert plan.gathered is not None
    assert all(row.start == len(SHARED) for row in plan.rows)
    stepper.run()
    for handle in asked:
        timings = stepper.ended(handle).timings
        assert (timings.cache_tokens, timings.prompt_tokens) == (len(SHARED), 30)


def test_without_a_room_nothing_is_gathered() -> None:
    stepper = Stepper(replace(LAYOUT, room=0))
    stepper.submit([*SHARED, 7], max_tokens=1)
    stepper.run()
    for tokens in questions(3):
        stepper.submit(tokens, max_tokens=4)
    assert stepper.step().gathered is None


# On a real model

RULES = byte_tokens("Answer every question in one word, and never guess. " * 6)
STRONG = (LoraScale(0, 1.0),)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedModel]:
    with model_with_caches_apart(tmp_path_factory.mktemp("gathering")) as model:
        yield model


@pytest.fixture
def roomy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A room although attention is not flash attention, which would not be exact."""
    monkeypatch.setattr(build_module, "room_cells", lambda loaded: 1024)
    monkeypatch.setattr(executor_module, "room_cells", lambda loaded: 1024)


def asked(lora: tuple[LoraScale, ...] = ()) -> list[SequenceRequest]:
    return [
        greedy([*RULES, *byte_tokens(f"Question {at}: what is the colour of number {at}?")], lora=lora, max_tokens=12)
        for at in range(4)
    ]


def executor_of(engine: EngineLoop) -> LlamaExecutor:
    found = engine._executor
    assert isinstance(found, LlamaExecutor)
    return found


@pytest.mark.usefixtures("roomy")
@pytest.mark.parametrize("lora", [(), STRONG])
def test_an_engine_that_reads_together_says_what_each_prompt_gets_alone(
    loaded: LoadedModel, lora: tuple[LoraScale, ...]
) -> None:
    async def main() -> None:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded, cache_ram_mib=0)) as engine:
            alone = [await play(engine, replace(one, id_slot=0, cache_prompt=False)) for one in asked(lora)]
            assert executor_of(engine)._room is None, "it is made when it is needed"
            together = await play_all(engine, asked(lora))
            assert executor_of(engine)._room is not None
        assert executor_of(engine)._room is None, "it is freed with the engine"
        for one, other in zip(alone, together, strict=True):
            assert one.tokens == other.tokens
            for mine, its in zip(one.logprobs, other.logprobs, strict=True):
                assert max(abs(mine[token] - its[token]) for token in mine) < 1e-3

    asyncio.run(main())


@pytest.mark.usefixtures("roomy")
def test_an_engine_whose_room_fails_reads_one_by_one_and_says_so_once(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def __init__(self, *_: object) -> None:
            raise RoomFailed("there is no memory for it")

    monkeypatch.setattr(executor_module, "Room", Broken)

    async def main() -> None:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded, cache_ram_mib=0)) as engine:
            alone = [await play(engine, replace(one, id_slot=0, cache_prompt=False)) for one in asked()]
            for _ in range(2):
                together = await play_all(engine, asked())
                assert [one.tokens for one in together] == [one.tokens for one in alone]

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    assert [record.message for record in caplog.records] == [
        "short prompts are read one by one from now on: there is no memory for it"
    ]


@pytest.mark.usefixtures("roomy")
def test_a_crowd_that_reads_together_and_leaves_at_random_says_what_each_says_alone(loaded: LoadedModel) -> None:
    chance = random.Random(7)
    rules = [RULES, byte_tokens("Translate what follows, and keep every name as it is. " * 5)]
    requests = [
        greedy(
            [*rules[at % 10 == 3], *byte_tokens(f"{at % 20} things: which colour have they, and why?")],
            max_tokens=3 if at % 9 else 8,
            n_probs=0,
        )
        for at in range(60)
    ]
    said: dict[int, list[int]] = {}
    queue = list(enumerate(requests))
    read_together = []

    async def client(engine: EngineLoop) -> None:
        while queue:
            at, one = queue.pop()
            if at % 6 == 0:
                handle = engine.submit(one, lambda event: None)
                await asyncio.sleep(chance.random() * 0.02)
                engine.cancel(handle)
            else:
                said[at] = (await play(engine, one)).tokens

    async def main() -> None:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded, cache_ram_mib=1)) as engine:
            executor = executor_of(engine)
            execute = executor.execute

            def watched(plan: BatchPlan) -> Outcome:
                read_together.append(plan.gathered is not None)
                return execute(plan)

            executor.execute = watched  # type: ignore[method-assign]
            await asyncio.gather(*[client(engine) for _ in range(10)])
            assert not any(slot.is_processing for slot in engine.slots())
        assert sum(read_together) > 2, "it was not tried"
        async with running(build_engine(loaded, cache_ram_mib=0)) as engine:
            for at, tokens in said.items():
                wanted = await play(engine, replace(requests[at], id_slot=0, cache_prompt=False))
                assert tokens == wanted.tokens

    asyncio.run(main())
