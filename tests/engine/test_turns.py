from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ferrox_gguf.engine.turns import LoraTurns, fair_shares
from ferrox_gguf.request import LoraScale


@given(st.lists(st.integers(1, 500), max_size=10), st.integers(0, 600))
def test_shares_use_the_allowance_and_give_nobody_more_than_it_wants(wanted: list[int], allowance: int) -> None:
    shares = fair_shares(wanted, allowance)
    assert all(0 <= share <= want for share, want in zip(shares, wanted, strict=True))
    assert sum(shares) == min(allowance, sum(wanted))
    if wanted:
        assert shares[0] >= min(wanted[0], allowance // 2)


def test_a_short_prompt_is_read_whole_beside_a_long_one() -> None:
    assert fair_shares([4000, 20, 300], 128) == [108, 20, 0]


def test_prompts_that_cannot_be_finished_wait_for_the_oldest() -> None:
    assert fair_shares([600, 600, 600], 64) == [64, 0, 0]
    assert fair_shares([40, 600, 500], 64) == [40, 24, 0]


def test_one_adapter_set_keeps_its_turn_for_some_steps_and_then_gives_it_up() -> None:
    turns, one, two = LoraTurns(), (LoraScale(0, 1.0),), (LoraScale(1, 1.0),)
    chosen = [turns.choose([one, two]) for _ in range(40)]
    assert set(chosen) == {one, two}
    assert sum(a != b for a, b in pairwise(chosen)) <= 3


def test_an_adapter_set_that_nobody_else_waits_for_is_kept() -> None:
    turns, one = LoraTurns(), (LoraScale(0, 1.0),)
    assert {turns.choose([one]) for _ in range(100)} == {one}
