"""Sampling parameters: each one changes what it should, and what llama.cpp would choke on is refused by name."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import fields, replace

import numpy as np
import pytest
from support.gguf_vocab import byte_tokens

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.llama.candidates import Candidates, NothingAllowed, log_probabilities
from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.llama.sampler import DEFAULT_ORDER, Sampler, _is_greedy, sampler_name
from ferrox_gguf.request import RANDOM_SEED, Sampling

OPEN = Sampling(seed=7, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)
"""The plain distribution."""


@pytest.fixture
def logits(dense: LoadedModel) -> np.ndarray:
    """A row with a clear order: token t has logit -t / 20, token 5 leads."""
    row = -np.arange(dense.vocab.n_tokens, dtype=np.float32) / 20
    row[5] = 0.5
    return row


def draws(loaded: LoadedModel, sampling: Sampling, logits: np.ndarray, count: int = 300) -> Counter[int]:
    """How often each token is drawn; the chain keeps its state, nothing is accepted."""
    sampler = Sampler(loaded.vocab, sampling, n_context=512)
    candidates = Candidates(loaded.vocab.n_tokens)
    drawn: Counter[int] = Counter()
    for _ in range(count):
        candidates.fill(logits)
        drawn[sampler.draw(candidates)] += 1
    sampler.close()
    return drawn


def test_temperature_zero_takes_the_best(dense: LoadedModel, logits: np.ndarray) -> None:
    assert draws(dense, replace(OPEN, temperature=0.0), logits) == {5: 300}


def test_looking_up_the_largest_logit_agrees_with_the_chain(dense: LoadedModel) -> None:
    """Greedy requests skip the chain; a bias on a token that cannot win keeps it, and must not change the answer."""
    context, batch = dense.context, dense.context.batch
    context.memory.clear_all()
    looked_up = Sampler(dense.vocab, Sampling(temperature=0.0), n_context=512)
    chain = Sampler(dense.vocab, Sampling(temperature=0.0, logit_bias=((3, -50.0),)), n_context=512)
    token, candidates = byte_tokens("a")[0], Candidates(dense.vocab.n_tokens)
    for position in range(60):
        batch.clear()
        row = batch.add([token], slot=0, start=position, output=True)
        context.decode(batch)
        token = looked_up.sample(context, row, candidates)
        assert token == chain.sample(context, row, candidates)
    context.memory.clear_all()
    looked_up.close()
    chain.close()


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 0.1},
        {"samplers": ("top_k",)},
        {"samplers": ("temperature", "adaptive_p")},
        {"mirostat": 2},
        {"dynatemp_range": 0.5},
        {"typical_p": 0.5},
        {"xtc_probability": 0.5},
        {"dry_multiplier": 0.8},
        {"repeat_penalty": 1.1},
        {"presence_penalty": 0.1},
        {"frequency_penalty": 0.1},
        {"logit_bias": ((5, 1.0),)},
        {"ignore_eos": True},
    ],
)
def test_whatever_may_change_the_winner_goes_through_the_chain(dense: LoadedModel, change: dict[str, object]) -> None:
    greedy = replace(OPEN, temperature=0.0)
    assert _is_greedy(greedy, dense.vocab)
    assert _is_greedy(replace(greedy, top_k=40, top_p=0.9, min_p=0.1, top_n_sigma=1.0), dense.vocab)
    assert not _is_greedy(replace(greedy, **change), dense.vocab)  # type: ignore[arg-type]


def test_the_plain_distribution_is_the_softmax(dense: LoadedModel, logits: np.ndarray) -> None:
    drawn = draws(dense, OPEN, logits, 4000)
    probabilities = np.exp(logits) / np.exp(logits).sum()
    assert drawn[5] / 4000 == pytest.approx(float(probabilities[5]), abs=0.02)
    assert len(drawn) > 60


@pytest.mark.parametrize(
    ("change", "most"),
    [
        ({"top_k": 3}, 3),
        ({"top_p": 0.1}, 3),
        ({"min_p": 0.6}, 10),
        ({"typical_p": 0.1}, 10),
        ({"top_n_sigma": 0.1}, 10),
        ({"temperature": 0.05}, 3),
    ],
)
def test_each_filter_leaves_fewer_tokens(
    dense: LoadedModel, logits: np.ndarray, change: dict[str, float], most: int
) -> None:
    assert 1 <= len(draws(dense, replace(OPEN, **change), logits)) <= most


def test_min_keep_holds_a_filter_back(dense: LoadedModel, logits: np.ndarray) -> None:
    assert len(draws(dense, replace(OPEN, top_p=0.001), logits)) == 1
    assert len(draws(dense, replace(OPEN, top_p=0.001, min_keep=4), logits)) == 4


def test_xtc_leaves_out_the_best(dense: LoadedModel, logits: np.ndarray) -> None:
    assert draws(dense, replace(OPEN, xtc_probability=1.0, xtc_threshold=0.03), logits)[5] == 0


def test_a_bias_moves_a_token_and_a_ban_removes_it(dense: LoadedModel, logits: np.ndarray) -> None:
    assert draws(dense, replace(OPEN, temperature=0.0, logit_bias=((99, 20.0),)), logits) == {99: 300}
    assert draws(dense, replace(OPEN, logit_bias=((5, -math.inf),)), logits)[5] == 0


def test_ignoring_the_end_bans_every_end_token(dense: LoadedModel, logits: np.ndarray) -> None:
    (end,) = dense.vocab.end_tokens
    logits[end] = 30.0
    assert draws(dense, OPEN, logits)[end] == 300
    assert draws(dense, replace(OPEN, ignore_eos=True), logits)[end] == 0


@pytest.mark.parametrize("change", [{"repeat_penalty": 5.0}, {"presence_penalty": 10.0}, {"frequency_penalty": 10.0}])
def test_penalties_see_the_prompt(dense: LoadedModel, logits: np.ndarray, change: dict[str, float]) -> None:
    sampler = Sampler(dense.vocab, replace(OPEN, temperature=0.0, **change), n_context=512)
    sampler.prime([5, 5])
    candidates = Candidates(dense.vocab.n_tokens)
    candidates.fill(logits + 1)
    assert sampler.draw(candidates) != 5
    sampler.close()


def test_penalties_forget_what_is_too_far_back(dense: LoadedModel, logits: np.ndarray) -> None:
    sampler = Sampler(dense.vocab, replace(OPEN, temperature=0.0, presence_penalty=10.0, repeat_last_n=3), n_context=64)
    sampler.prime([5, 50, 51, 52])
    candidates = Candidates(dense.vocab.n_tokens)
    candidates.fill(logits)
    assert sampler.draw(candidates) == 5
    sampler.close()


def test_looking_back_minus_one_is_the_whole_context(dense: LoadedModel) -> None:
    sampler = Sampler(dense.vocab, replace(OPEN, presence_penalty=1.0, repeat_last_n=-1), n_context=64)
    assert sampler.history == 64
    sampler.close()


def test_dry_breaks_a_repetition_and_its_breakers_stop_it(dense: LoadedModel) -> None:
    text = byte_tokens("abcdeabcd")
    row = np.zeros(dense.vocab.n_tokens, np.float32)
    row[byte_tokens("e")[0]], row[byte_tokens("x")[0]] = 2.0, 1.0
    candidates = Candidates(dense.vocab.n_tokens)

    def best(**change: object) -> str:
        sampler = Sampler(dense.vocab, replace(OPEN, temperature=0.0, **change), n_context=512)  # type: ignore[arg-type]
        sampler.prime(text)
        candidates.fill(row)
        token = sampler.draw(candidates)
        sampler.close()
        return dense.vocab.piece(token).decode()

    assert best() == "e"
    assert best(dry_multiplier=2.0) == "x"
    assert best(dry_multiplier=2.0, dry_sequence_breakers=("d",)) == "e"


def test_dynamic_temperature_widens_an_unsure_distribution(dense: LoadedModel, logits: np.ndarray) -> None:
    cold, warm = (replace(OPEN, temperature=0.5, dynatemp_range=width) for width in (0.0, 0.49))
    assert draws(dense, cold, logits) != draws(dense, warm, logits)


@pytest.mark.parametrize("version", [1, 2])
def test_mirostat_draws_and_adapts(dense: LoadedModel, logits: np.ndarray, version: int) -> None:
    low = draws(dense, replace(OPEN, mirostat=version, mirostat_tau=1.0), logits)
    high = draws(dense, replace(OPEN, mirostat=version, mirostat_tau=8.0), logits)
    assert len(low) < len(high)


def test_adaptive_p_draws(dense: LoadedModel, logits: np.ndarray) -> None:
    sampling = replace(OPEN, samplers=("top_k", "adaptive_p"), top_k=20, adaptive_target=0.05)
    sampler = Sampler(dense.vocab, sampling, n_context=64)
    candidates = Candidates(dense.vocab.n_tokens)
    for _ in range(20):
        candidates.fill(logits)
        sampler.accept(sampler.draw(candidates))
    sampler.close()


def test_the_order_of_samplers_matters(dense: LoadedModel, logits: np.ndarray) -> None:
    hot_first = replace(OPEN, temperature=50.0, min_p=0.5, samplers=("temperature", "min_p"))
    hot_last = replace(hot_first, samplers=("min_p", "temperature"))
    assert len(draws(dense, hot_first, logits)) > len(draws(dense, hot_last, logits))


def test_no_samplers_at_all_is_the_plain_distribution(dense: LoadedModel, logits: np.ndarray) -> None:
    assert len(draws(dense, replace(OPEN, temperature=0.0, samplers=()), logits)) > 60


def test_samplers_have_llama_servers_names_in_every_spelling() -> None:
    for name in DEFAULT_ORDER:
        for spelling in (name, name.replace("_", "-"), name.replace("_", ""), name.upper()):
            assert sampler_name(spelling) == name
    assert sampler_name("nucleus") == "top_p"
    assert sampler_name("temp") == "temperature"
    assert sampler_name("typical_p") == "typ_p"
    assert sampler_name("adaptive-p") == "adaptive_p"
    assert sampler_name("nothing") is None


def test_a_random_seed_is_drawn_and_a_given_one_is_kept(dense: LoadedModel) -> None:
    seeds = set()
    for _ in range(3):
        sampler = Sampler(dense.vocab, replace(OPEN, seed=RANDOM_SEED), n_context=64)
        seeds.add(sampler.seed)
        sampler.close()
    assert len(seeds) == 3
    assert RANDOM_SEED not in seeds
    sampler = Sampler(dense.vocab, OPEN, n_context=64)
    assert sampler.seed == 7
    sampler.close()


FLOATS = [field.name for field in fields(Sampling) if isinstance(field.default, float)]


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_none_are_refused_by_name(dense: LoadedModel, name: str, value: float) -> None:
    with pytest.raises(InvalidField) as raised:
        Sampler(dense.vocab, replace(OPEN, **{name: value}), n_context=64)
    assert raised.value.field == name


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("repeat_penalty", 0.0),
        ("repeat_penalty", -1.0),
        ("repeat_penalty", 1e-45),
        ("mirostat", 3),
        ("seed", -1),
        ("seed", 2**32),
        ("top_k", 2**40),
        ("min_keep", -1),
        ("repeat_last_n", -2),
        ("dry_penalty_last_n", -2),
        ("logit_bias", ((100_000, 1.0),)),
        ("logit_bias", ((-1, 1.0),)),
        ("logit_bias", ((5, math.nan),)),
        ("logit_bias", ((5, math.inf),)),
        ("logit_bias", tuple((token, -math.inf) for token in range(260))),
    ],
)
def test_values_out_of_range_are_refused_by_name(dense: LoadedModel, field: str, value: object) -> None:
    with pytest.raises(InvalidField) as raised:
        Sampler(dense.vocab, replace(OPEN, **{field: value}), n_context=64)  # type: ignore[arg-type]
    assert raised.value.field == field


def test_a_mask_leaves_only_what_it_allows(dense: LoadedModel, logits: np.ndarray) -> None:
    allowed = {7, 31, 32, 200}
    bits = bytearray(-(-dense.vocab.n_tokens // 32) * 4)
    for token in allowed:
        bits[token // 8] |= 1 << (token % 8)
    sampler, candidates = Sampler(dense.vocab, OPEN, n_context=64), Candidates(dense.vocab.n_tokens)
    drawn = set()
    for _ in range(200):
        candidates.fill_allowed(np.zeros_like(logits), bytes(bits))
        drawn.add(sampler.draw(candidates))
    assert drawn == allowed
    with pytest.raises(NothingAllowed):
        candidates.fill_allowed(logits, bytes(len(bits)))
    sampler.close()


def test_probabilities_after_sampling_are_of_what_is_left(dense: LoadedModel, logits: np.ndarray) -> None:
    sampler = Sampler(dense.vocab, replace(OPEN, top_k=3), n_context=64)
    candidates = Candidates(dense.vocab.n_tokens)
    candidates.fill(logits)
    token = sampler.draw(candidates)
    own, top = candidates.best(10, token)
    assert [token for token, _ in top] == [5, 0, 1]
    assert sum(p for _, p in top) == pytest.approx(1.0)
    assert own == dict(top)[token]
    sampler.close()


def test_probabilities_before_sampling_are_of_the_whole_vocabulary(logits: np.ndarray) -> None:
    own, top = log_probabilities(logits, 4, chosen=100)
    everything = logits.astype(np.float64) - np.log(np.exp(logits.astype(np.float64)).sum())
    assert [token for token, _ in top] == [5, 0, 1, 2]
    assert own == pytest.approx(float(everything[100]))
    assert [value for _, value in top] == pytest.approx([float(everything[token]) for token, _ in top])
    assert log_probabilities(logits, 0, chosen=5)[1] == []
    assert len(log_probabilities(logits, 10_000, chosen=5)[1]) == logits.size


def test_copied_dry_samplers_have_their_own_memory(dense: LoadedModel) -> None:
    from ferrox_gguf.llama.dry import DryPrototypes

    prototypes = DryPrototypes(dense.vocab)
    row = np.zeros(dense.vocab.n_tokens, np.float32)
    row[byte_tokens("e")[0]], row[byte_tokens("x")[0]] = 2.0, 1.0
    candidates = Candidates(dense.vocab.n_tokens)
    sampling = replace(OPEN, temperature=0.0, dry_multiplier=2.0)
    said = []
    for text in ("abcdeabcd", "nothing of the kind", "abcdeabcd"):
        sampler = Sampler(dense.vocab, sampling, n_context=512, dry=prototypes)
        sampler.prime(byte_tokens(text))
        candidates.fill(row)
        said.append(dense.vocab.piece(sampler.draw(candidates)).decode())
        sampler.close()
    assert said == ["x", "e", "x"]


def test_more_dry_settings_than_are_remembered_still_work(dense: LoadedModel, logits: np.ndarray) -> None:
    from ferrox_gguf.llama.dry import DryPrototypes

    prototypes = DryPrototypes(dense.vocab)
    for at in range(40):
        sampling = replace(OPEN, dry_multiplier=1.0 + at % 20)
        Sampler(dense.vocab, sampling, n_context=64, dry=prototypes).close()
