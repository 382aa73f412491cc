"""The scheduler, stepped by hand over a scripted executor that checks every plan against the cells."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.scripted_executor import ScriptedExecutor, counting
from support.stepping import END, Stepper, request

from ferrox_gguf.engine.contract import Failed, PromptProgress
from ferrox_gguf.engine.layout import Layout
from ferrox_gguf.engine.plan import Shift
from ferrox_gguf.events import StopType
from ferrox_gguf.request import LoraScale


def layout(**changes: object) -> Layout:
    sizes: dict[str, object] = {
        "n_slots": 4,
        "n_cells": 1024,
        "slot_context": 1024,
        "end_tokens": frozenset({END}),
        **changes,
    }
    return Layout(**sizes)  # type: ignore[arg-type]


def expected(tokens: range | list[int], count: int, **changes: object) -> list[int]:
    asked = request(tokens, **changes)
    return [counting(asked, at) for at in range(count)]


def test_an_answer_ends_at_its_limit() -> None:
    stepper = Stepper(layout())
    handle = stepper.submit(range(10), max_tokens=5)
    stepper.run()
    assert stepper.said(handle) == expected(range(10), 5)
    assert stepper.ended(handle).stop is StopType.LIMIT
    assert stepper.ended(handle).timings.predicted_tokens == 5


def test_the_ending_token_is_counted_and_not_shown() -> None:
    stepper = Stepper(layout(), ScriptedExecutor(lambda asked, at: END if at == 2 else 50 + at))
    handle = stepper.submit(range(10))
    stepper.run()
    assert stepper.said(handle) == [50, 51]
    assert stepper.ended(handle).stop is StopType.EOS
    assert stepper.ended(handle).timings.predicted_tokens == 3


def test_a_stop_token_of_the_request_ends_like_the_models_own() -> None:
    stepper = Stepper(layout(), ScriptedExecutor(lambda asked, at: 60 + at))
    handle = stepper.submit(range(10), stop_tokens=frozenset({62}))
    stepper.run()
    assert stepper.said(handle) == [60, 61]
    assert stepper.ended(handle).stop is StopType.EOS


def test_a_cancelled_sequence_gives_its_slot_back_before_the_next_plan() -> None:
    stepper = Stepper(layout(n_slots=1))
    first, second = stepper.submit(range(10)), stepper.submit(range(500, 510))
    stepper.step()
    stepper.scheduler.cancel(first)
    assert [row.sequence for row in stepper.step().rows] == [second]


def test_a_waiting_sequence_can_be_cancelled() -> None:
    stepper = Stepper(layout(n_slots=1))
    stepper.submit(range(10), max_tokens=2)
    waiting = stepper.submit(range(500, 510))
    stepper.step()
    assert stepper.scheduler.cancel(waiting)
    stepper.run()
    assert stepper.events[waiting] == []


def test_cancelling_twice_does_nothing() -> None:
    stepper = Stepper(layout())
    handle = stepper.submit(range(10))
    stepper.step()
    assert stepper.scheduler.cancel(handle)
    assert not stepper.scheduler.cancel(handle)


def test_prompts_are_read_beside_running_answers_in_one_batch() -> None:
    stepper = Stepper(layout())
    first = stepper.submit(range(10))
    stepper.step()
    second = stepper.submit(range(500, 540), max_tokens=1)
    plan = stepper.step()
    assert [row.sequence for row in plan.rows] == [first, second]
    assert plan.decoding == 1


def test_a_failure_ends_its_own_sequence_and_no_other() -> None:
    stepper = Stepper(layout())
    bad, good = stepper.submit(range(10), max_tokens=3), stepper.submit(range(500, 510), max_tokens=3)
    stepper.executor.fail.add(bad)
    stepper.run()
    assert isinstance(stepper.events[bad][-1], Failed)
    assert stepper.said(good) == expected(range(500, 510), 3)


def test_what_a_failed_sequence_left_is_not_reused() -> None:
    stepper = Stepper(layout(n_slots=1))
    bad = stepper.submit(range(50))
    stepper.step()
    stepper.executor.fail.add(bad)
    stepper.step()
    again = stepper.submit(range(50), max_tokens=1)
    stepper.run()
    assert stepper.ended(again).timings.cache_tokens == 0


def test_the_same_prompt_again_reads_one_token() -> None:
    stepper = Stepper(layout())
    stepper.submit(range(100), max_tokens=2)
    stepper.run()
    again = stepper.submit(range(100), max_tokens=2)
    stepper.run()
    timings = stepper.ended(again).timings
    assert (timings.cache_tokens, timings.prompt_tokens) == (99, 1)


def test_simultaneous_prompts_with_one_beginning_read_it_once() -> None:
    stepper = Stepper(layout(n_cells=4096, slot_context=4096))
    system = list(range(300))
    handles = [stepper.submit([*system, 1000 + at, 2000 + at], max_tokens=3) for at in range(4)]
    stepper.run()
    assert stepper.scheduler.counters.prompt_tokens == 302 + 3 * 2
    for at, handle in enumerate(handles):
        assert stepper.said(handle) == expected([*system, 1000 + at, 2000 + at], 3)


def test_slots_with_caches_of_their_own_copy_a_beginning_and_read_it_once() -> None:
    stepper = Stepper(layout(shares_cells=False, n_cells=4 * 1024))
    handles = [stepper.submit([*range(200), at, at], max_tokens=5) for at in (500, 600, 700)]
    stepper.run()
    assert [stepper.ended(handle).timings.cache_tokens for handle in handles] == [0, 200, 200]
    assert [stepper.said(handle) for handle in handles] == [
        expected([*range(200), at, at], 5) for at in (500, 600, 700)
    ]
    assert stepper.scheduler.lanes.cells.used == 3 * 206 == stepper.executor.cells_used


def test_rows_of_slots_with_caches_of_their_own_come_in_the_order_of_the_slots() -> None:
    """llama.cpp computes only neighbours together."""
    stepper = Stepper(layout(shares_cells=False, n_cells=4 * 1024))
    for slot in (2, 0, 3, 1):
        stepper.submit(range(1000 * slot, 1000 * slot + 10), max_tokens=9, id_slot=slot)
    stepper.run()
    assert any(len(plan.rows) == 4 for plan in stepper.executor.plans)
    for plan in stepper.executor.plans:
        assert [row.slot for row in plan.rows] == sorted(row.slot for row in plan.rows)


def test_a_prompt_that_fills_its_own_cache_takes_nothing_from_the_others() -> None:
    stepper = Stepper(layout(shares_cells=False, n_cells=4 * 64, slot_context=64))
    stepper.submit(range(100, 160), max_tokens=1)
    stepper.run()
    stepper.submit(range(200, 260), max_tokens=-1)
    stepper.run()
    assert sorted(slot.held for slot in stepper.scheduler.lanes.slots) == [0, 0, 60, 63]


def test_several_answers_to_one_prompt_read_it_once() -> None:
    stepper = Stepper(layout())
    handles = [stepper.submit(range(200), max_tokens=4, group="g") for _ in range(4)]
    stepper.run()
    assert stepper.scheduler.counters.prompt_tokens == 200 + 3
    assert {len(stepper.said(handle)) for handle in handles} == {4}


def test_a_sequence_whose_awaited_reader_is_cancelled_reads_on_by_itself() -> None:
    stepper = Stepper(layout(n_cells=4096, slot_context=4096, n_ubatch=64))
    first = stepper.submit(range(400))
    second = stepper.submit([*range(390), 7], max_tokens=2)
    stepper.step()
    stepper.step()
    stepper.scheduler.cancel(first)
    stepper.run()
    assert stepper.said(second) == expected([*range(390), 7], 2)


def test_progress_reaches_the_whole_prompt() -> None:
    stepper = Stepper(layout(n_ubatch=32))
    handle = stepper.submit(range(100), max_tokens=1, wants_progress=True)
    stepper.run()
    seen = [event.processed for event in stepper.events[handle] if isinstance(event, PromptProgress)]
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, 100)


def test_a_request_for_a_busy_slot_does_not_hold_up_the_others() -> None:
    stepper = Stepper(layout(n_slots=2))
    stepper.submit(range(10), id_slot=0)
    stepper.step()
    blocked, other = stepper.submit(range(500, 510), id_slot=0), stepper.submit(range(700, 710))
    plan = stepper.step()
    assert other in [row.sequence for row in plan.rows]
    assert blocked not in [row.sequence for row in plan.rows]


def test_with_cache_reuse_later_parts_are_moved_into_place() -> None:
    stepper = Stepper(layout())
    stepper.submit([*range(20), *range(100, 150), *range(200, 260)], max_tokens=1)
    stepper.run()
    tokens = [*range(20), *range(200, 260), 7]
    handle = stepper.submit(tokens, max_tokens=2, n_cache_reuse=32)
    stepper.run()
    assert stepper.ended(handle).timings.cache_tokens == 80
    assert stepper.executor.tokens(stepper.ended(handle).slot)[:81] == tokens


def test_cells_that_another_slot_shares_are_never_moved() -> None:
    stepper = Stepper(layout(n_slots=2))
    text = [*range(20), *range(100, 150), *range(200, 260)]
    stepper.submit(text, max_tokens=1)
    stepper.run()
    stepper.submit([*text[:60], 7, 7], max_tokens=1)
    stepper.run()
    handle = stepper.submit([*range(20), *range(110, 140), 7], max_tokens=1, n_cache_reuse=16, id_slot=0)
    stepper.run()
    assert stepper.ended(handle).timings.cache_tokens == 20


def test_a_short_prompt_does_not_wait_for_a_long_one() -> None:
    stepper = Stepper(layout(n_cells=8192, slot_context=8192, n_ubatch=64))
    long = stepper.submit(range(4000), max_tokens=1)
    stepper.step()
    short = stepper.submit(range(5000, 5020), max_tokens=1)
    stepper.step()
    assert len(stepper.said(short)) == 1
    assert stepper.said(long) == []


def test_a_long_prompt_arrives_although_short_ones_keep_coming() -> None:
    stepper = Stepper(layout(n_cells=8192, slot_context=8192, n_ubatch=64))
    long = stepper.submit(range(1000), max_tokens=1)
    for at in range(60):
        stepper.submit(range(5000 + 100 * at, 5060 + 100 * at), max_tokens=1)
        stepper.step()
    assert len(stepper.said(long)) == 1


def test_the_oldest_unused_cells_are_evicted_first() -> None:
    stepper = Stepper(layout(n_slots=3, n_cells=256))
    for first_token in (1000, 2000):
        stepper.submit(range(first_token, first_token + 100), max_tokens=1)
        stepper.run()
    stepper.submit(range(3000, 3100), max_tokens=1)
    stepper.run()
    assert [slot.held for slot in stepper.scheduler.lanes.slots] == [0, 100, 100]


def test_idle_slots_that_outweigh_what_runs_move_to_memory_and_come_back() -> None:
    stepper = Stepper(layout(n_cells=4096, cache_bytes=-1, clear_idle=True))
    prompts = [range(first, first + 300) for first in (1000, 2000, 3000)]
    for prompt in prompts:
        stepper.submit(prompt, max_tokens=2)
        stepper.run()
    stepper.submit(range(10), max_tokens=2)
    stepper.step()
    # The newest of the old prompts alone is more than the new one and the 256 cells that cost nothing.
    assert sum(slot.held for slot in stepper.scheduler.lanes.slots if slot.idle) == 0
    stepper.run()
    again = stepper.submit(prompts[0], max_tokens=2)
    stepper.run()
    assert stepper.ended(again).timings.cache_tokens == 299
    assert stepper.said(again) == expected(prompts[0], 2)


@pytest.mark.parametrize("change", [{"clear_idle": False}, {"cache_bytes": 0}])
def test_idle_slots_keep_what_they_hold_where_it_would_be_lost_or_shall_stay(change: dict[str, object]) -> None:
    stepper = Stepper(layout(**{"n_cells": 4096, "cache_bytes": -1, "clear_idle": True, **change}))
    for first in (1000, 2000, 3000):
        stepper.submit(range(first, first + 300), max_tokens=2)
        stepper.run()
    stepper.submit(range(10), max_tokens=2)
    stepper.step()
    assert sum(slot.held for slot in stepper.scheduler.lanes.slots if slot.idle) == 3 * 301


def test_idle_slots_stay_while_what_runs_outweighs_them() -> None:
    stepper = Stepper(layout(n_cells=4096, cache_bytes=-1, clear_idle=True))
    stepper.submit(range(1000, 1300), max_tokens=2)
    stepper.run()
    stepper.submit(range(2000, 2400), max_tokens=2)
    stepper.step()
    assert [slot.held for slot in stepper.scheduler.lanes.slots if slot.idle and slot.held] == [301]


def test_an_answer_that_fills_its_slot_ends_truncated() -> None:
    stepper = Stepper(layout(slot_context=32))
    handle = stepper.submit(range(20))
    stepper.run()
    assert stepper.ended(handle).stop is StopType.LIMIT
    assert stepper.ended(handle).truncated
    assert 20 + len(stepper.said(handle)) == 32


def test_with_context_shift_an_answer_goes_on_past_its_slot() -> None:
    stepper = Stepper(layout(slot_context=32, context_shift=True))
    handle = stepper.submit(range(20), max_tokens=100, n_keep=4)
    stepper.run()
    assert len(stepper.said(handle)) == 100
    assert stepper.ended(handle).truncated
    assert any(isinstance(operation, Shift) for plan in stepper.executor.plans for operation in plan.operations)


def test_shifting_shared_cells_copies_them_first() -> None:
    stepper = Stepper(layout(slot_context=64, context_shift=True))
    system = list(range(40))
    handles = [stepper.submit([*system, 900 + at], max_tokens=60) for at in range(2)]
    stepper.run()
    assert [len(stepper.said(handle)) for handle in handles] == [60, 60]


def test_when_cells_run_out_the_youngest_steps_back_and_the_others_never_notice() -> None:
    stepper = Stepper(layout(n_slots=3, n_cells=256, slot_context=256))
    handles = [stepper.submit(range(at, at + 60), max_tokens=80) for at in (1000, 2000, 3000)]
    stepper.run()
    assert stepper.scheduler.counters.preempted > 0
    for handle, first_token in zip(handles, (1000, 2000, 3000), strict=True):
        assert stepper.said(handle) == expected(range(first_token, first_token + 60), 80)
        assert not stepper.ended(handle).truncated


def test_alone_and_out_of_cells_a_sequence_ends_with_limit() -> None:
    stepper = Stepper(layout(n_slots=2, n_cells=100, slot_context=256))
    handle = stepper.submit(range(60))
    stepper.run()
    assert stepper.ended(handle).stop is StopType.LIMIT
    assert stepper.ended(handle).truncated
    assert stepper.scheduler.counters.ended_for_room == 1


def test_a_decode_that_finds_no_room_is_tried_again_smaller() -> None:
    stepper = Stepper(layout())
    stepper.executor.full = 3
    handle = stepper.submit(range(200), max_tokens=3)
    stepper.run()
    assert stepper.said(handle) == expected(range(200), 3)


def test_a_prefix_that_could_not_be_shared_after_all_is_read_again() -> None:
    stepper = Stepper(layout())
    stepper.submit(range(100), max_tokens=1)
    stepper.run()
    stepper.executor.lose = 1
    handle = stepper.submit([*range(60), 7, 8], max_tokens=3)
    stepper.run()
    assert stepper.said(handle) == expected([*range(60), 7, 8], 3)
    timings = stepper.ended(handle).timings
    assert (timings.cache_tokens, timings.prompt_tokens) == (0, 62)


def test_two_adapter_sets_are_never_in_one_batch() -> None:
    stepper = Stepper(layout())
    plain = stepper.submit(range(50), max_tokens=40)
    adapted = stepper.submit(range(50), max_tokens=40, lora=(LoraScale(0, 1.0),))
    stepper.run()
    for plan in stepper.executor.plans:
        assert len({stepper_lora(stepper, row.sequence) for row in plan.rows}) <= 1
    assert stepper.ended(adapted).timings.cache_tokens == 0
    assert len(stepper.said(plain)) == len(stepper.said(adapted)) == 40


def stepper_lora(stepper: Stepper, handle: int) -> tuple[LoraScale, ...]:
    return stepper.executor.requests[handle].lora


prompts = st.lists(
    st.tuples(st.sampled_from([0, 1, 2]), st.integers(1, 120), st.integers(1, 60), st.integers(0, 6), st.booleans()),
    min_size=1,
    max_size=12,
)


ONE_BEGINNING = [(0, length, 1, 0, False) for length in (*[1] * 9, 32, 33, 33)]
"""Slots take over from slots that take over in the same plan."""


@settings(deadline=None, max_examples=60)
@example(ONE_BEGINNING, 200, (0, False), 0, 0, 2, True)
@example(ONE_BEGINNING, 200, (0, False), 0, 0, 2, False)
@given(
    prompts,
    st.sampled_from([200, 400, 1024]),
    st.sampled_from([(0, False), (40, False), (200, False), (0, True)]),
    st.sampled_from([0, 3000, -1]),
    st.sampled_from([0, 3]),
    st.integers(0, 4),
    st.booleans(),
)
def test_every_sequence_says_what_it_says_alone_whatever_runs_beside_it(
    prompts: list[tuple[int, int, int, int, bool]],
    n_cells: int,
    kind: tuple[int, bool],
    cache_bytes: int,
    checkpoints: int,
    lose: int,
    shares_cells: bool,
) -> None:
    """The scripted executor refuses every operation that would serve wrong state, so each answer is also a proof."""
    window, recurrent = kind
    shares_cells = shares_cells or window > 0 or recurrent
    stepper = Stepper(
        layout(
            n_cells=n_cells if shares_cells else 4 * 190,
            shares_cells=shares_cells,
            slot_context=190,
            window=window,
            recurrent=recurrent,
            cache_bytes=cache_bytes,
            checkpoints=checkpoints,
            checkpoint_step=50,
        )
    )
    stepper.executor.lose = lose
    handles: dict[int, tuple[list[int], int]] = {}
    for family, length, limit, pause, leaves in prompts:
        tokens = [1000 * family + at for at in range(length)]
        handle = stepper.submit(tokens, max_tokens=limit)
        for _ in range(pause):
            stepper.step()
        if leaves:
            stepper.scheduler.cancel(handle)
        else:
            handles[handle] = (tokens, limit)
    stepper.run()
    for handle, (tokens, limit) in handles.items():
        count = min(limit, 190 - len(tokens))
        assert stepper.said(handle) == expected(tokens, count)
        ended = stepper.ended(handle)
        assert ended.timings.cache_tokens + ended.timings.prompt_tokens == len(tokens)
    assert all(slot.idle for slot in stepper.scheduler.lanes.slots)
    assert stepper.scheduler.lanes.cells.used == stepper.executor.cells_used
    forget_everything(stepper)
    assert stepper.executor.kept == {}, "a kept state that nobody needs must be dropped"


def forget_everything(stepper: Stepper) -> None:
    """Empty all slots and the archive, and let the executor obey."""
    lanes = stepper.scheduler.lanes
    for slot in lanes.slots:
        lanes.forget(slot)
    lanes.keeper.forget_all()
    stepper.step()
