"""The shortlist: whatever a chain could choose is in it, so drawing from it is drawing from all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ferrox_gguf.llama.candidates import Candidates, NothingAllowed
from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.llama.sampler import Sampler
from ferrox_gguf.llama.shortlist import shortlist
from ferrox_gguf.request import Sampling

VOCABULARY = 48_000


def random_logits(seed: int, size: int = VOCABULARY) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(0, 3, size).astype(np.float32)


@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(0, 5000),
    count=st.integers(1, 60),
    levels=st.sampled_from([1, 2, 7, 1000]),
    banned=st.floats(0.0, 1.0),
)
def test_the_shortlist_has_the_largest_logits_and_what_was_named(
    seed: int, size: int, count: int, levels: int, banned: float
) -> None:
    random = np.random.default_rng(seed)
    logits = random.integers(0, levels, size).astype(np.float32)
    logits[random.random(size) < banned] = -np.inf
    also = random.choice(size, min(size, 5), replace=False).tolist() if size else []
    ids = shortlist(logits, count, also)
    if ids is None:
        return
    assert len(set(ids.tolist())) == ids.size
    assert set(also) <= set(ids.tolist())
    assert np.array_equal(np.sort(logits[ids])[::-1][:count], np.sort(logits)[::-1][:count])


def test_a_logit_that_is_no_number_leaves_no_other_one_out() -> None:
    logits = random_logits(1)
    best = int(logits.argmax())
    logits[[3, 700]] = np.nan
    ids = shortlist(logits, 40)
    assert ids is None or best in ids


def test_a_vocabulary_too_small_to_save_anything_has_no_shortlist() -> None:
    assert shortlist(random_logits(1, 300), 40) is None


SHORT = Sampling(seed=11, temperature=1.3)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"top_k": 5},
        {"ignore_eos": True},
        {"logit_bias": ((7, 4.0), (9, -3.0), (12, float("-inf")))},
        {"repeat_penalty": 1.3},
        {"repeat_penalty": 0.5},
        {"presence_penalty": 2.0, "frequency_penalty": 0.7},
        {"presence_penalty": -2.0},
        {"xtc_probability": 0.5, "xtc_threshold": 0.05},
        {"dynatemp_range": 0.5},
        {"samplers": ("temperature", "top_k", "min_p")},
    ],
)
@pytest.mark.parametrize("masked", [False, True])
def test_drawing_from_the_shortlist_is_drawing_from_the_whole_vocabulary(
    dense: LoadedModel, change: dict[str, object], masked: bool
) -> None:
    sampling = replace(SHORT, **change)  # type: ignore[arg-type]
    short, whole = (Sampler(dense.vocab, sampling, n_context=512) for _ in range(2))
    for sampler in (short, whole):
        sampler.prime([5, 6, 7, 7, 100])
    few, all_of_them = Candidates(VOCABULARY), Candidates(VOCABULARY)
    mask = np.random.default_rng(4).integers(0, 256, VOCABULARY // 8, np.uint8).tobytes() if masked else None
    narrowed = 0
    for turn in range(40):
        logits = random_logits(turn)
        logits[:20] += 5
        short.fill(few, logits, mask)
        if mask is None:
            all_of_them.fill(logits)
        else:
            all_of_them.fill_allowed(logits, mask)
        narrowed += few.size < all_of_them.size
        token = short.draw(few)
        assert token == whole.draw(all_of_them)
        for sampler in (short, whole):
            sampler.accept(token)
    assert narrowed == 40
    short.close()
    whole.close()


@pytest.mark.parametrize(
    "change",
    [
        {"top_k": 0},
        {"mirostat": 2},
        {"dry_multiplier": 0.8},
        {"top_n_sigma": 1.0},
        {"samplers": ("top_p", "top_k")},
        {"samplers": ("min_p", "temperature")},
        {"dynatemp_range": 0.5, "samplers": ("temperature", "top_k")},
        {"repeat_penalty": 1.1, "repeat_last_n": 1000},
        {"logit_bias": tuple((token, -1.0) for token in range(200)), "top_k": 400},
    ],
)
def test_a_chain_that_looks_at_every_logit_gets_every_one(dense: LoadedModel, change: dict[str, object]) -> None:
    sampler = Sampler(dense.vocab, replace(SHORT, **change), n_context=2048)  # type: ignore[arg-type]
    candidates = Candidates(VOCABULARY)
    sampler.fill(candidates, random_logits(1))
    assert candidates.size == VOCABULARY
    sampler.close()


def test_a_mask_without_a_token_leaves_nothing_to_draw(dense: LoadedModel) -> None:
    sampler, candidates = Sampler(dense.vocab, SHORT, n_context=512), Candidates(VOCABULARY)
    with pytest.raises(NothingAllowed):
        sampler.fill(candidates, random_logits(1), bytes(VOCABULARY // 8))
    sampler.close()
