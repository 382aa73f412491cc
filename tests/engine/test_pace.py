"""How many prompt tokens a step reads."""

from __future__ import annotations

import pytest

from ferrox_gguf.engine.pace import ALONE_MS, EFFICIENT, Pace

UBATCH = 512
LONG = 10_000


def machine(pace: Pace, *, fixed: float, token: float, steps: int, decoding: int = 0) -> int:
    """Let a machine with these costs (ms) run steps of what is allowed; the last allowance."""
    for _ in range(steps):
        tokens = pace.allowance(decoding, LONG)
        pace.observe(decoding, tokens, fixed + token * tokens)
    return pace.allowance(decoding, LONG)


def test_alone_a_prompt_gets_whole_tiles_for_about_half_a_second_a_step() -> None:
    pace = Pace(100.0, UBATCH)
    pace.observe(1, 0, 6.0)
    tokens = machine(pace, fixed=6.0, token=3.3, steps=30)
    assert tokens % EFFICIENT == 0
    assert ALONE_MS - 3.3 * EFFICIENT < 6.0 + 3.3 * tokens < 1.1 * ALONE_MS


def test_a_machine_whose_passes_are_slow_does_not_read_ever_fewer_tokens() -> None:
    # One pass takes two seconds (a busy machine, a model out of memory's reach); tokens in it are nearly free.
    pace = Pace(100.0, UBATCH)
    pace.observe(1, 0, 2000.0)
    assert machine(pace, fixed=2000.0, token=4.0, steps=30) > 200


def test_beside_running_answers_a_step_stays_near_its_budget() -> None:
    pace = Pace(100.0, UBATCH)
    pace.observe(4, 0, 20.0)
    tokens = machine(pace, fixed=20.0, token=0.5, steps=30, decoding=4)
    assert 90.0 < 20.0 + 0.5 * tokens < 110.0


def test_answers_that_fill_the_budget_leave_a_prompt_half_of_it() -> None:
    pace = Pace(100.0, UBATCH)
    pace.observe(8, 0, 150.0)
    tokens = machine(pace, fixed=150.0, token=0.5, steps=30, decoding=8)
    assert 40.0 < 0.5 * tokens < 60.0


def test_a_long_prompt_is_read_in_pieces_that_attention_works_on_in_tiles() -> None:
    pace = Pace(100.0, UBATCH)
    pace.observe(4, 0, 40.0)
    assert machine(pace, fixed=40.0, token=8.0, steps=30, decoding=4) == EFFICIENT


@pytest.mark.parametrize("decoding", [0, 4])
def test_less_than_a_piece_is_not_left_behind(decoding: int) -> None:
    """It would cost more a token, and another pass."""
    pace = Pace(100.0, UBATCH)
    pace.observe(4, 0, 40.0)
    machine(pace, fixed=40.0, token=8.0, steps=30, decoding=decoding)
    assert pace.allowance(decoding, oldest=EFFICIENT + 22) == EFFICIENT + 22
    assert pace.allowance(decoding, oldest=2 * EFFICIENT) == EFFICIENT
    assert pace.allowance(decoding, oldest=2 * EFFICIENT + 31) == EFFICIENT + 16
    assert pace.allowance(decoding, oldest=3 * EFFICIENT) == EFFICIENT


def test_what_is_left_of_a_prompt_waits_where_reading_it_with_the_last_piece_would_take_too_long() -> None:
    pace = Pace(100.0, UBATCH)
    pace.observe(4, 0, 40.0)
    machine(pace, fixed=40.0, token=14.0, steps=30, decoding=4)
    assert pace.allowance(4, oldest=EFFICIENT + 50) == EFFICIENT


def test_on_a_machine_where_such_a_piece_would_stop_the_answers_for_long_pieces_are_small() -> None:
    pace = Pace(100.0, UBATCH)
    pace.observe(4, 0, 400.0)
    assert machine(pace, fixed=400.0, token=40.0, steps=30, decoding=4) < 10


def test_a_step_beside_answers_is_stretched_far_for_one_prompt_only() -> None:
    pace = Pace(100.0, UBATCH)
    pace.observe(4, 0, 40.0)
    machine(pace, fixed=40.0, token=8.0, steps=30, decoding=4)
    assert pace.allowance(4, oldest=40) == 40
    assert 8.0 * pace.allowance(4, oldest=10) <= 2 * 100.0


def test_short_prompts_that_nobody_waits_beside_are_read_together() -> None:
    pace = Pace(100.0, UBATCH)
    pace.observe(4, 0, 40.0)
    machine(pace, fixed=40.0, token=8.0, steps=30)
    assert 0.9 * ALONE_MS < 8.0 * pace.allowance(0, oldest=10) <= ALONE_MS


def test_prompts_that_begin_together_are_read_to_their_end_together_where_that_does_not_take_too_long() -> None:
    pace = Pace(100.0, UBATCH)
    pace.observe(4, 0, 40.0)
    machine(pace, fixed=40.0, token=8.0, steps=30)
    assert pace.allowance(0, oldest=15, everything=8 * 15) == 8 * 15
    assert pace.allowance(0, oldest=15, everything=20 * 15) <= ALONE_MS / 8.0
    assert pace.allowance(4, oldest=15, everything=8 * 15) <= 2 * 100.0 / 8.0


def test_short_prompts_that_end_in_a_step_beside_answers_get_what_a_piece_of_one_prompt_would() -> None:
    pace = Pace(100.0, UBATCH)
    pace.observe(4, 0, 40.0)
    machine(pace, fixed=40.0, token=8.0, steps=30, decoding=4)
    assert pace.allowance(4, oldest=15, everything=45) == 45
    assert 8.0 * pace.allowance(4, oldest=15, everything=EFFICIENT + 1) <= 2 * 100.0
    machine(pace, fixed=40.0, token=40.0, steps=30, decoding=4)
    assert pace.allowance(4, oldest=15, everything=45) < 45


def test_an_idle_engine_waits_for_others_no_longer_than_matters_beside_reading() -> None:
    pace = Pace(100.0, UBATCH)
    assert pace.patience_ms(100) == 0.0, "nothing is known yet"
    machine(pace, fixed=6.0, token=2.0, steps=30)
    assert 0.0 < pace.patience_ms(10) <= 0.03 * 20.0
    assert pace.patience_ms(EFFICIENT) == pace.patience_ms(LONG), "the rest may be cached"
    machine(pace, fixed=40.0, token=80.0, steps=30)
    assert pace.patience_ms(LONG) <= 5.0


def test_a_step_that_was_faster_than_its_decoding_alone_does_not_unlearn_what_tokens_cost() -> None:
    pace = Pace(100.0, UBATCH)
    pace.observe(1, 0, 50.0)
    for _ in range(20):
        pace.observe(1, 100, 40.0)
    assert 0 < pace.prompt_ms(100) <= 40.0
