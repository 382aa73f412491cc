"""Short prompts read together in the room leave each slot as if it had read its own; exact against a cold run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from support.apart import model_with_caches_apart
from support.gguf_vocab import byte_tokens

from ferrox_gguf.llama import room as room_module
from ferrox_gguf.llama.context import DecodeFailed
from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.llama.options import CacheType, FlashAttention
from ferrox_gguf.llama.room import Question, Room, RoomFailed, room_cells

RULES = byte_tokens("Answer every question in one word, and never guess. " * 6)
OTHER = byte_tokens("Quite another text, which has nothing to do with it. " * 7)[: len(RULES)]
QUESTIONS = [byte_tokens(f"Question number {at}: what is the colour of {what}? ") for at, what in enumerate(
    ("snow", "the sea at noon", "grass in the spring", "coal")
)]  # fmt: skip
CLOSE = 1e-3


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedModel]:
    with model_with_caches_apart(tmp_path_factory.mktemp("room")) as model:
        yield model


@pytest.fixture
def tiled(loaded: LoadedModel) -> Iterator[LoadedModel]:
    """With the attention that the room is for: its two ways to compute agree less well."""
    model = LoadedModel.load(replace(loaded.options, flash_attention=FlashAttention.ON, lora=()))
    yield model
    model.close()


@pytest.fixture
def room(loaded: LoadedModel) -> Iterator[Room]:
    loaded.context.set_adapters([])
    loaded.context.memory.clear_all()
    made = Room(loaded, 1024)
    yield made
    made.close()


def read(loaded: LoadedModel, tokens: list[int], slot: int, start: int = 0) -> np.ndarray:
    context, batch = loaded.context, loaded.context.batch
    batch.clear()
    last = batch.add(tokens, slot=slot, start=start, output=True)
    context.decode(batch)
    return context.logits(last).copy()


def far(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).max())


def ask(loaded: LoadedModel, room: Room, rules: list[int], slots: list[int]) -> list[np.ndarray]:
    """Let slots read the rules, and the room their questions; the logits behind each question."""
    for slot in slots:
        loaded.context.memory.clear(slot)
        read(loaded, rules, slot)
    rows = room.read(tuple(rules), [Question(slot, tuple(QUESTIONS[slot])) for slot in slots])
    return [room.context.logits(row).copy() for row in rows]


def alone(loaded: LoadedModel, tokens: list[int]) -> np.ndarray:
    loaded.context.memory.clear(3)
    logits = read(loaded, tokens, 3)
    loaded.context.memory.clear(3)
    return logits


def test_questions_read_together_have_the_logits_of_each_read_alone(loaded: LoadedModel, room: Room) -> None:
    wanted = [alone(loaded, [*RULES, *question]) for question in QUESTIONS]
    got = ask(loaded, room, RULES, [0, 1, 2, 3])
    for at in range(4):
        assert far(got[at], wanted[at]) < CLOSE
        assert far(got[at], wanted[at - 1]) > CLOSE


@pytest.mark.parametrize("slots", [[0, 1, 2], [1, 2, 3], [3, 0]])
def test_each_slot_goes_on_behind_its_own_question(loaded: LoadedModel, room: Room, slots: list[int]) -> None:
    more = byte_tokens("It is")
    wanted = {slot: alone(loaded, [*RULES, *QUESTIONS[slot], *more]) for slot in slots}
    ask(loaded, room, RULES, slots)
    for slot in slots:
        start = len(RULES) + len(QUESTIONS[slot])
        assert loaded.context.memory.last_position(slot) == start - 1
        assert far(read(loaded, more, slot, start), wanted[slot]) < CLOSE
    assert far(wanted[slots[0]], wanted[slots[1]]) > CLOSE


def test_another_beginning_takes_the_place_of_the_one_before(loaded: LoadedModel, room: Room) -> None:
    ask(loaded, room, RULES, [0, 1])
    for rules in (OTHER, RULES[:200], RULES, OTHER[:150]):
        got = ask(loaded, room, rules, [1, 2])
        for at, slot in enumerate((1, 2)):
            assert far(got[at], alone(loaded, [*rules, *QUESTIONS[slot]])) < CLOSE


def test_a_beginning_that_is_still_there_is_not_copied_again(
    loaded: LoadedModel, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(loaded, room, RULES, [0, 1])
    monkeypatch.setattr(room._mover, "into_shared", None)
    got = ask(loaded, room, RULES[:200], [1, 2])
    assert far(got[0], alone(loaded, [*RULES[:200], *QUESTIONS[1]])) < CLOSE


def test_a_change_of_adapters_forgets_what_was_read_with_others(loaded: LoadedModel, room: Room) -> None:
    plain = ask(loaded, room, RULES, [0, 1])
    adapters = [(loaded.adapters[0], 1.0)]
    loaded.context.set_adapters(adapters)
    room.set_adapters(adapters)
    got = ask(loaded, room, RULES, [0, 1])
    assert far(got[0], alone(loaded, [*RULES, *QUESTIONS[0]])) < CLOSE
    assert far(got[0], plain[0]) > CLOSE
    loaded.context.set_adapters([])


def test_when_it_fails_it_holds_nothing_and_works_again(
    loaded: LoadedModel, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(batch: object) -> None:
        raise DecodeFailed(-3, "on purpose")

    with monkeypatch.context() as patch:
        patch.setattr(room.context, "decode", fails)
        with pytest.raises(RoomFailed, match="on purpose"):
            ask(loaded, room, RULES, [0, 1])
    assert all(room.context.memory.last_position(each) == -1 for each in range(5))
    got = ask(loaded, room, RULES, [0, 1])
    assert far(got[0], alone(loaded, [*RULES, *QUESTIONS[0]])) < CLOSE


def test_a_state_that_cannot_be_written_is_not_taken_for_the_one_before(
    loaded: LoadedModel, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    mover = room._mover
    read(loaded, RULES, 0)
    assert mover.into_shared(0, 1)
    monkeypatch.setattr(mover._own, "save_into", lambda slot, space: 0)
    assert not mover.into_shared(0, 2)
    assert room.context.memory.last_position(2) == -1
    monkeypatch.setattr(mover._shared, "save_into", lambda slot, space: 0)
    assert not mover.into_own(1, 2)
    assert loaded.context.memory.last_position(2) == -1


def test_more_than_it_can_hold_is_refused(loaded: LoadedModel, room: Room) -> None:
    with pytest.raises(RoomFailed, match="more questions than sequences"):
        room.read((1,), [Question(0, (1,))] * 5)
    rules = (OTHER * 3)[:700]
    for slot in range(4):
        read(loaded, rules, slot)
    with pytest.raises(RoomFailed, match="its cache is full"):
        room.read(tuple(rules), [Question(slot, tuple(OTHER[:110])) for slot in range(4)])
    assert all(loaded.context.memory.last_position(slot) == len(rules) - 1 for slot in range(4))


def test_there_is_a_room_where_slots_have_caches_of_their_own_and_attention_has_tiles(
    tiled: LoadedModel, loaded: LoadedModel, dense: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert room_cells(tiled) == tiled.context.slot_context == 1024
    assert room_cells(loaded) == 0, "no flash attention"
    assert room_cells(dense) == 0, "one cache for all"
    quantized = replace(tiled.options, cache_type_k=CacheType.Q8_0, cache_type_v=CacheType.Q8_0)
    assert room_cells(replace(tiled, options=quantized)) == 0
    with monkeypatch.context() as patch:
        patch.setattr(room_module, "_MOST_BYTES", 1000)
        assert room_cells(tiled) == 0, "its cells are too large"
    monkeypatch.setattr(room_module, "describe_devices", lambda: ("CUDA0: a card",))
    assert room_cells(tiled) == 0, "a GPU has no such tiles"


def test_in_tiles_a_question_is_as_near_to_itself_as_attention_allows(tiled: LoadedModel) -> None:
    wanted = [alone(tiled, [*RULES, *question]) for question in QUESTIONS]
    room = Room(tiled, room_cells(tiled))
    got = ask(tiled, room, RULES, [0, 1, 2, 3])
    room.close()
    for at in range(4):
        assert far(got[at], wanted[at]) < 0.1
        assert far(got[at], wanted[at - 1]) > 0.5
