from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support.stepping import request

from ferrox_gguf.engine.plan import Chunk
from ferrox_gguf.engine.prefix import Placement, Reuse, common_chunks, common_prefix, place
from ferrox_gguf.engine.sequence import Sequence
from ferrox_gguf.engine.slot import Slot


@given(st.lists(st.integers(0, 3)), st.lists(st.integers(0, 3)), st.integers(0, 1500))
def test_the_common_prefix_is_the_longest_run_of_equal_tokens(left: list[int], right: list[int], same: int) -> None:
    left, right = [9] * same + left, [9] * same + right
    length = common_prefix(left, right)
    assert left[:length] == right[:length]
    assert length in (len(left), len(right)) or left[length] != right[length]


def test_chunks_follow_the_prefix_and_skip_what_the_prompt_left_out() -> None:
    held = [1, 2, 3, *range(50, 60), 4, 5, *range(70, 90)]
    assert common_chunks(held, [1, 2, 3, *range(70, 90), 9], 3, least=8) == (Chunk(15, 3, 20),)
    assert common_chunks(held, [1, 2, 3, *range(50, 60), *range(70, 90), 9], 13, least=8) == (Chunk(15, 13, 20),)
    assert common_chunks(held, [1, 2, 3, *range(70, 90), 9], 3, least=30) == ()


def slots(*held: list[int]) -> list[Slot]:
    made = []
    for index, tokens in enumerate(held):
        slot = Slot(index)
        slot.tokens, slot.held, slot.last_used = tokens, len(tokens), index
        made.append(slot)
    return made


def anything(slot: Slot, length: int) -> Reuse:
    return Reuse(slot, length, pending=length > slot.held)


def put(tokens: list[int], among: list[Slot], wanted: int = -1, reuse: bool = True) -> Placement | None:
    return place(tokens, (), among, wanted=wanted, reuse=reuse, usable=anything)


def test_a_conversation_that_goes_on_keeps_its_slot() -> None:
    assert put([*range(100), 7, 8], slots([], list(range(100)))) == Placement(1, 1, 100)


def test_a_new_question_after_a_shared_beginning_forks_into_an_empty_slot() -> None:
    assert put([*range(50), 1, 2], slots(list(range(100)), [])) == Placement(1, 0, 50)


def test_the_least_recently_used_slot_is_taken_when_nothing_is_shared() -> None:
    assert put([500, 501], slots([1, 2], [3, 4])) == Placement(0)


def test_a_short_beginning_of_a_long_text_is_read_rather_than_copied_with_all_of_it() -> None:
    """Where slots have caches of their own, the whole state goes through memory."""
    among = slots(list(range(1000)), [])
    for length, copied in ((100, Placement(1)), (200, Placement(1, 0, 200))):
        tokens = [*range(length), 5000]
        assert place(tokens, (), among, wanted=-1, reuse=True, copies=True, usable=anything) == copied


def test_the_last_token_of_a_prompt_is_always_evaluated() -> None:
    assert put([1, 2, 3], slots([1, 2, 3])) == Placement(0, 0, 2)


def test_a_named_slot_uses_only_what_it_holds_itself() -> None:
    assert put([*range(100), 7], slots(list(range(100)), [0, 1]), wanted=1) == Placement(1, 1, 2)


def test_without_prompt_caching_nothing_is_reused() -> None:
    assert put([1, 2, 3, 4], slots([1, 2, 3]), reuse=False) == Placement(0)


def test_a_prefix_that_another_sequence_still_reads_is_awaited() -> None:
    among = slots([], [])
    among[0].lend(Sequence(1, request(range(100))), held=10)
    assert put([*range(60), 500], among) == Placement(1, 0, 60, await_source=True)


def test_a_few_tokens_are_read_again_rather_than_awaited() -> None:
    among = slots([], [])
    among[0].lend(Sequence(1, request(range(100))), held=0)
    assert put([0, 1, 2, 500], among) == Placement(1)


def test_cells_read_with_an_adapter_are_not_used_without_it() -> None:
    from ferrox_gguf.request import LoraScale

    among = slots([1, 2, 3], [])
    among[0].lora = (LoraScale(0, 1.0),)
    placement = put([1, 2, 3, 4], among)
    assert placement is not None
    assert placement.length == 0


def busy(among: list[Slot], *indexes: int) -> list[Slot]:
    for index in indexes:
        among[index].lend(Sequence(index, request([9000 + index])), held=1)
    return among


def apart(tokens: list[int], among: list[Slot], chunks: bool = False, kept: bool = True) -> Placement | None:
    return place(tokens, (), among, wanted=-1, reuse=True, copies=True, chunks=chunks, kept=kept, usable=anything)


def test_without_a_cache_in_memory_no_conversation_is_lost_for_a_place_beside_others() -> None:
    conversation = list(range(100))
    among = busy(slots([], [1, 2], [], conversation), 0)
    assert apart([500], among, kept=False) == Placement(2)
    assert apart([*conversation, 7], busy(slots([], [1, 2], [3, 4], conversation), 0), kept=False) == Placement(
        3, 3, 100
    )


def test_slots_with_caches_of_their_own_are_taken_side_by_side() -> None:
    """llama.cpp computes only neighbours in one pass."""
    assert apart([500], busy(slots([], [], [], [], []), 3)) == Placement(2)
    assert apart([500], busy(slots([], [1, 2], [], [], []), 0, 2)) == Placement(1)
    assert put([500], busy(slots([], [1, 2], [], [], []), 0, 2)) == Placement(3), "one cache: an empty slot comes first"


def test_a_conversation_is_copied_to_a_slot_beside_those_that_run() -> None:
    conversation = list(range(100))
    among = busy(slots([], [], [], conversation), 0)
    assert apart([*conversation, 7], among) == Placement(1, 3, 100)
    assert apart([*conversation, 7], among, chunks=True) == Placement(3, 3, 100)
    assert put([*conversation, 7], among) == Placement(3, 3, 100), "one cache: nothing is gained"
    assert apart([*conversation, 7], busy(among, 2)) == Placement(1, 3, 100), "it joins two groups"
    assert apart([*conversation, 7], busy(among, 1)) == Placement(3, 3, 100), "it has a neighbour already"


def test_a_very_long_conversation_stays_where_it_is() -> None:
    conversation = list(range(5000))
    assert apart([*conversation, 7], busy(slots([], [], [], conversation), 0)) == Placement(3, 3, 5000)


def test_a_conversation_stays_in_its_slot_while_nothing_else_runs() -> None:
    conversation = list(range(100))
    assert apart([*conversation, 7], slots([], [], [], conversation)) == Placement(3, 3, 100)


def test_of_slots_that_hold_the_same_the_one_beside_those_that_run_goes_on() -> None:
    shared = list(range(100))
    assert apart([*shared, 7], busy(slots([], shared, [*shared, 1], [*shared, 2]), 0)) == Placement(1, 1, 100)
    assert apart([*shared, 7], busy(slots([*shared, 3], shared, [*shared, 1], []), 3)) == Placement(2, 2, 100)


def test_a_fork_does_not_leave_its_source_for_a_slot_without_neighbours() -> None:
    """What the source holds beyond the prefix is kept in memory."""
    among = busy(slots([], [], list(range(100)), []), 3)
    assert apart([*range(50), 500], among) == Placement(2, 2, 50)
    assert put([*range(50), 500], among) == Placement(0, 2, 50)
