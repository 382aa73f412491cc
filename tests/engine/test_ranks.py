"""Answers in slots with caches of their own move together when one between them has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.exact import exact
from support.gguf_vocab import byte_tokens
from support.playing import greedy, play, play_all, running
from support.small_gguf import write_dense
from support.stepping import Stepper, request

from ferrox_gguf.engine.build import build_engine
from ferrox_gguf.engine.layout import Layout
from ferrox_gguf.engine.ranks import closing_move
from ferrox_gguf.llama.loaded import LoadedModel

LAYOUT = Layout(n_slots=4, n_cells=4096, slot_context=1024, shares_cells=False)


def test_a_lonely_answer_goes_beside_the_others() -> None:
    assert closing_move([0, 3, 4, 5], {0, 3, 4, 5}, 8) == (0, 2)
    assert closing_move([2, 3, 7], {2, 3, 7}, 8) == (7, 4)
    assert closing_move([0, 2, 3], {0, 2, 3}, 8) == (0, 1)
    assert closing_move([0, 2, 3], {0, 2, 3}, 8, filled={1}) == (0, 4), "an empty slot first"


def test_neighbours_stay_where_they_are() -> None:
    assert closing_move([2, 3, 4], {2, 3, 4}, 8) is None
    assert closing_move([], set(), 8) is None


def test_what_may_not_move_stays_and_the_others_come_to_it() -> None:
    assert closing_move([0, 3, 4], {3, 4}, 8) == (4, 1)
    assert closing_move([0, 3, 4], set(), 8) is None


@given(st.sets(st.integers(0, 11)), st.sets(st.integers(0, 11)))
def test_moves_end_and_never_make_more_groups(busy: set[int], stuck: set[int]) -> None:
    def groups(slots: set[int]) -> int:
        return sum(slot - 1 not in slots for slot in slots)

    movable, moves = busy - stuck, 0
    while move := closing_move(sorted(busy), movable, 12):
        source, target = move
        assert source in movable
        assert target not in busy
        after = busy - {source} | {target}
        assert groups(after) <= groups(busy)
        busy, movable, moves = after, movable - {source} | {target}, moves + 1
        assert moves <= 40
    if movable == busy:
        assert groups(busy) <= 1


def slots_of(stepper: Stepper) -> list[int]:
    return [slot.index for slot in stepper.scheduler.lanes.slots if not slot.idle]


def test_when_an_answer_between_two_has_ended_one_of_them_moves_and_says_the_same() -> None:
    stepper = Stepper(LAYOUT)
    lengths = (60, 8, 60)
    prompts = [[100 * at, *range(500, 530)] for at in range(3)]
    asked = [stepper.submit(p, max_tokens=n) for p, n in zip(prompts, lengths, strict=True)]
    stepper.step()
    assert slots_of(stepper) == [0, 1, 2]
    while not stepper.scheduler.counters.finished:
        stepper.step()
    for _ in range(2):
        stepper.step()
    left, right = slots_of(stepper)
    assert right - left == 1
    stepper.run()
    for handle, prompt, length in zip(asked, prompts, lengths, strict=True):
        assert stepper.said(handle) == [stepper.executor.script(request(prompt), at) for at in range(length)]


@pytest.mark.parametrize("kept", ["named", "nearly done", "one cache"])
def test_an_answer_stays(kept: str) -> None:
    """In a slot that its client named; when it ends soon; where all slots have one cache."""
    stepper = Stepper(replace(LAYOUT, shares_cells=kept == "one cache"))
    for at, length in enumerate((14 if kept == "nearly done" else 60, 8, 14 if kept == "nearly done" else 60)):
        stepper.submit([100 * at, 7], max_tokens=length, id_slot=at if kept == "named" else -1)
    while not stepper.scheduler.counters.finished:
        stepper.step()
    for _ in range(3):
        stepper.step()
    assert slots_of(stepper) == [0, 2]


def test_what_the_place_between_holds_is_kept_in_memory() -> None:
    stepper = Stepper(replace(LAYOUT, cache_bytes=-1))
    middle = list(range(700, 800))
    for prompt, length in (([1, 7], 60), (middle, 8), ([3, 7], 60), ([4, 7], 60)):
        stepper.submit(prompt, max_tokens=length)
    while not stepper.scheduler.counters.finished:
        stepper.step()
    for _ in range(2):
        stepper.step()
    assert slots_of(stepper) == [1, 2, 3]
    stepper.run()
    again = stepper.submit([*middle, 9], max_tokens=1)
    stepper.run()
    assert stepper.ended(again).timings.cache_tokens == len(middle)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedModel]:
    path = write_dense(tmp_path_factory.mktemp("ranks") / "dense.gguf")
    model = LoadedModel.load(exact(path, n_ctx=4096, kv_unified=False))
    yield model
    model.close()


def test_an_answer_of_a_real_model_goes_on_exactly_after_a_move(loaded: LoadedModel) -> None:
    texts = [byte_tokens(f"Story number {at}: once upon a time there was a {what}. ") for at, what in enumerate("abc")]
    requests = [greedy(text, max_tokens=n) for text, n in zip(texts, (80, 6, 80), strict=True)]

    async def main() -> None:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded, cache_ram_mib=1)) as engine:
            together = await play_all(engine, requests)
            alone = [await play(engine, replace(one, id_slot=3, cache_prompt=False)) for one in requests]
        assert {one.slot for one in together} != {0, 1, 2}, "none has moved"
        for one, other in zip(together, alone, strict=True):
            assert one.tokens == other.tokens
            for mine, its in zip(one.logprobs, other.logprobs, strict=True):
                assert max(abs(mine[token] - its[token]) for token in mine) < 1e-3

    asyncio.run(main())
