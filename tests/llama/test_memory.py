"""What the cells may be asked to do: exact against a cold run, and refused where llama.cpp would compute wrongly.

All models are F32 with F32 cells and without flash attention, where two readings of the same tokens agree to 1e-3. Each
test has a negative control: state of another text must be further away than that.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.exact import exact
from support.gguf_vocab import byte_tokens
from support.small_gguf import WINDOW, write_dense, write_recurrent, write_sliding

from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.llama.memory import MemoryMisuse

TEXT = byte_tokens("It was a bright cold day in April, and the clocks were striking thirteen. " * 5)
OTHER = byte_tokens("Quite another text, which has nothing to do with the first one at all. " * 6)[: len(TEXT)]
CLOSE = 1e-3


@pytest.fixture(params=["dense", "dense_apart", "sliding", "recurrent", "hybrid"])
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    found: LoadedModel = request.getfixturevalue(request.param)
    found.context.memory.clear_all()
    return found


def read(loaded: LoadedModel, tokens: list[int], *, slot: int = 0, start: int = 0, chunk: int = 64) -> np.ndarray:
    """Evaluate tokens from position `start` on; the logits of the last one."""
    context, batch = loaded.context, loaded.context.batch
    last = -1
    for at in range(0, len(tokens), chunk):
        batch.clear()
        piece = tokens[at : at + chunk]
        last = batch.add(piece, slot=slot, start=start + at, output=at + chunk >= len(tokens))
        context.decode(batch)
    return context.logits(last).copy()


def cold(loaded: LoadedModel, tokens: list[int]) -> np.ndarray:
    loaded.context.memory.clear_all()
    logits = read(loaded, tokens, slot=3)
    loaded.context.memory.clear_all()
    return logits


def far(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max())


def test_a_whole_slot_is_shared_exactly(loaded: LoadedModel) -> None:
    wanted, wrong = cold(loaded, [*TEXT, *OTHER[:20]]), cold(loaded, [*OTHER, *OTHER[:20]])
    read(loaded, TEXT)
    loaded.context.memory.share(0, 1, len(TEXT))
    got = read(loaded, OTHER[:20], slot=1, start=len(TEXT))
    assert far(got, wanted) < CLOSE
    assert far(got, wrong) > CLOSE


def test_both_owners_of_shared_cells_go_on_by_themselves(loaded: LoadedModel) -> None:
    one, two = cold(loaded, [*TEXT, *OTHER[:20]]), cold(loaded, [*TEXT, *OTHER[50:70]])
    read(loaded, TEXT)
    loaded.context.memory.share(0, 1, len(TEXT))
    got_one = read(loaded, OTHER[:20], slot=0, start=len(TEXT))
    got_two = read(loaded, OTHER[50:70], slot=1, start=len(TEXT))
    assert far(got_one, one) < CLOSE
    assert far(got_two, two) < CLOSE
    assert far(got_one, two) > CLOSE


def test_a_prefix_is_shared_exactly_or_refused(loaded: LoadedModel) -> None:
    prefix = len(TEXT) - 100
    wanted = cold(loaded, [*TEXT[:prefix], *OTHER[:20]])
    read(loaded, TEXT)
    memory = loaded.context.memory
    if not memory.holds(0, prefix):
        with pytest.raises(MemoryMisuse):
            memory.share(0, 1, prefix)
        assert memory.last_position(1) == -1
        return
    memory.share(0, 1, prefix)
    assert far(read(loaded, OTHER[:20], slot=1, start=prefix), wanted) < CLOSE


def test_a_cut_slot_continues_exactly_or_the_cut_is_refused(loaded: LoadedModel) -> None:
    prefix = len(TEXT) - 100
    wanted, wrong = cold(loaded, [*TEXT[:prefix], *OTHER[:20]]), cold(loaded, [*TEXT, *OTHER[:20]])
    read(loaded, TEXT)
    memory = loaded.context.memory
    if not memory.holds(0, prefix):
        with pytest.raises(MemoryMisuse):
            memory.cut(0, prefix)
        assert memory.last_position(0) == len(TEXT) - 1
        return
    memory.cut(0, prefix)
    got = read(loaded, OTHER[:20], start=prefix)
    assert far(got, wanted) < CLOSE
    assert far(got, wrong) > CLOSE


def test_recurrent_state_is_never_cut(recurrent: LoadedModel) -> None:
    recurrent.context.memory.clear_all()
    read(recurrent, TEXT)
    assert not recurrent.context.memory.holds(0, len(TEXT) - 1)
    assert recurrent.context.memory.holds(0, len(TEXT))


def test_a_window_slot_may_be_cut_only_while_its_window_is_still_there(sliding: LoadedModel) -> None:
    memory = sliding.context.memory
    memory.clear_all()
    read(sliding, TEXT)
    first = memory.first_position(0)
    assert first > 0, "the text must be long enough for llama.cpp to have dropped cells"
    assert memory.holds(0, first + WINDOW)
    assert not memory.holds(0, first + WINDOW - 1)


def test_a_saved_state_goes_on_exactly_in_any_slot(loaded: LoadedModel) -> None:
    wanted, wrong = cold(loaded, [*TEXT, *OTHER[:20]]), cold(loaded, [*OTHER, *OTHER[:20]])
    memory = loaded.context.memory
    read(loaded, TEXT)
    state = memory.save(0)
    memory.clear_all()
    assert memory.restore(2, state)
    got = read(loaded, OTHER[:20], slot=2, start=len(TEXT))
    assert far(got, wanted) < CLOSE
    assert far(got, wrong) > CLOSE


def test_a_checkpoint_takes_a_slot_back_exactly(loaded: LoadedModel) -> None:
    prefix = len(TEXT) - 150
    wanted = cold(loaded, [*TEXT[:prefix], *OTHER[:20]])
    memory = loaded.context.memory
    read(loaded, TEXT[:prefix])
    checkpoint = memory.save(0, partial=True)
    read(loaded, TEXT[prefix:], start=prefix)
    if memory.traits.can_cut:
        memory.cut(0, prefix)
    else:
        assert memory.rewind(0, checkpoint, prefix)
    assert far(read(loaded, OTHER[:20], start=prefix), wanted) < CLOSE


def test_a_checkpoint_makes_a_fork_exact_and_leaves_the_source_as_it_is(loaded: LoadedModel) -> None:
    prefix = len(TEXT) - 150
    wanted, on = cold(loaded, [*TEXT[:prefix], *OTHER[:20]]), cold(loaded, [*TEXT, *OTHER[:20]])
    memory = loaded.context.memory
    read(loaded, TEXT[:prefix])
    checkpoint = memory.save(0, partial=True)
    read(loaded, TEXT[prefix:], start=prefix)
    if memory.traits.can_cut:
        memory.share(0, 1, prefix)
    else:
        assert memory.share_rewound(0, 1, prefix, checkpoint)
    assert far(read(loaded, OTHER[:20], slot=1, start=prefix), wanted) < CLOSE
    assert far(read(loaded, OTHER[:20], slot=0, start=len(TEXT)), on) < CLOSE


@pytest.mark.parametrize("damage", [b"", b"garbage", bytes(64)])
def test_damaged_state_is_refused_and_leaves_the_slot_empty(loaded: LoadedModel, damage: bytes) -> None:
    memory = loaded.context.memory
    read(loaded, TEXT)
    state = memory.save(0)
    for bad in (np.frombuffer(damage, np.uint8), state[: len(state) // 2]):
        assert not memory.restore(1, bad)
        assert memory.last_position(1) == -1
    assert memory.last_position(0) == len(TEXT) - 1


def test_shifted_cells_answer_like_a_text_without_the_hole(dense: LoadedModel) -> None:
    """Not exact (later cells have seen what was forgotten), but far nearer than not shifting at all."""
    memory = dense.context.memory
    memory.clear_all()
    read(dense, TEXT)
    memory.drop(0, 10, 110)
    memory.shift(0, 110, len(TEXT), -100)
    assert memory.last_position(0) == len(TEXT) - 101
    read(dense, OTHER[:5], start=len(TEXT) - 100)


def test_a_model_whose_cells_cannot_move_refuses_to_shift(sliding: LoadedModel, recurrent: LoadedModel) -> None:
    for loaded in (sliding, recurrent):
        assert not loaded.context.memory.traits.can_shift
        with pytest.raises(MemoryMisuse):
            loaded.context.memory.shift(0, 10, 20, -5)


def test_a_slot_that_does_not_exist_is_refused(loaded: LoadedModel) -> None:
    memory = loaded.context.memory
    for ask in (memory.clear, memory.first_position, memory.save):
        with pytest.raises(MemoryMisuse):
            ask(4)
    with pytest.raises(MemoryMisuse):
        memory.share(0, -1, 0)


def test_what_would_end_the_process_is_refused_first(dense: LoadedModel) -> None:
    context, batch = dense.context, dense.context.batch
    context.memory.clear_all()
    batch.clear()
    with pytest.raises(ValueError, match="1 to"):
        context.decode(batch)
    with pytest.raises(ValueError, match="holds"):
        batch.add([5] * (batch.capacity + 1), slot=0, start=0, output=False)
    batch.clear()
    for slot in range(4):
        for at in range(2):
            batch.add([5], slot=slot, start=at, output=True)
    with pytest.raises(ValueError, match="outputs"):
        context.decode(batch)
    batch.clear()
    batch.add([5, 6], slot=0, start=0, output=True)
    context.decode(batch)
    with pytest.raises(ValueError, match="no output"):
        context.logits(0)
    with pytest.raises(ValueError, match="no output"):
        context.logits(7)


def test_a_full_cache_says_so_and_a_smaller_batch_still_fits(dense: LoadedModel) -> None:
    from ferrox_gguf.llama.context import KVCacheFull

    context, batch = dense.context, dense.context.batch
    context.memory.clear_all()
    read(dense, (TEXT * 10)[:1000])
    batch.clear()
    batch.add(TEXT[:100], slot=1, start=0, output=False)
    with pytest.raises(KVCacheFull):
        context.decode(batch)
    batch.clear()
    batch.add(TEXT[:24], slot=1, start=0, output=True)
    context.decode(batch)


@pytest.mark.parametrize(
    ("kind", "changes", "shares"),
    [
        ("dense", {"n_parallel": 4, "kv_unified": None}, False),
        ("dense", {"n_parallel": -1, "kv_unified": None}, True),
        ("dense", {"n_parallel": 4, "kv_unified": True}, True),
        ("dense", {"n_parallel": 1, "kv_unified": False}, True),
        ("sliding", {"n_parallel": 4, "kv_unified": False}, True),
        ("sliding", {"n_parallel": 4, "kv_unified": False, "swa_full": True}, False),
        ("recurrent", {"n_parallel": 4, "kv_unified": False}, True),
    ],
)
def test_slots_have_caches_of_their_own_where_they_do_not_share_the_context_and_can_be_cut(
    kind: str, changes: dict[str, object], shares: bool, tmp_path: Path
) -> None:
    write = {"dense": write_dense, "sliding": write_sliding, "recurrent": write_recurrent}[kind]
    loaded = LoadedModel.load(exact(write(tmp_path / "m.gguf"), **changes))
    assert loaded.context.memory.traits.shares_cells is shares
    loaded.close()
