"""A slot as JSON: what it is doing, and that nothing of the last request is left of its counts."""

from dataclasses import replace

from ferrox_gguf.engine.contract import SequenceRequest
from ferrox_gguf.engine.stats import SlotSnapshot
from ferrox_gguf.request import Sampling
from ferrox_gguf.wire.slots import slots_json

BUSY = SlotSnapshot(
    id=1,
    n_ctx=256,
    is_processing=True,
    handle=7,
    request=SequenceRequest((1, 2, 3), Sampling(top_k=5), max_tokens=20),
    seed=42,
    n_tokens=8,
    n_prompt=3,
    n_cached=1,
    n_read=2,
    n_decoded=5,
    n_remaining=15,
)


def test_a_slot_that_never_ran_shows_only_itself():
    assert slots_json([SlotSnapshot(0, 256, False)]) == [
        {"id": 0, "n_ctx": 256, "speculative": False, "is_processing": False}
    ]


def test_a_busy_slot_shows_how_far_it_is():
    (shown,) = slots_json([BUSY])
    assert (shown["id_task"], shown["n_prompt_tokens_cache"], shown["n_prompt_tokens_processed"]) == (7, 1, 2)
    assert (shown["params"]["top_k"], shown["params"]["seed"], shown["params"]["n_predict"]) == (5, 42, 20)
    assert shown["next_token"] == [{"has_next_token": True, "has_new_line": False, "n_remain": 15, "n_decoded": 5}]


def test_a_slot_that_is_idle_again_has_nothing_left_to_do():
    (shown,) = slots_json([replace(BUSY, is_processing=False)])
    assert shown["next_token"] == [{"has_next_token": False, "has_new_line": False, "n_remain": -1, "n_decoded": 0}]
