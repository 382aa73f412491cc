"""Drawing the next token: llama.cpp's sampler chain in llama-server's order, and the candidates it works on.

A chain is built once a sequence and remembers what was accepted (penalties, mirostat). llama.cpp asserts on several
values that a request could carry, so each is checked here, by the name that the client used.
"""

from __future__ import annotations

import math
import secrets
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import llama_cpp as ll
import numpy as np
from numpy.typing import NDArray

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.llama.candidates import Candidates
from ferrox_gguf.llama.context import Context
from ferrox_gguf.llama.dry import DryPrototypes
from ferrox_gguf.llama.vocab import Vocab
from ferrox_gguf.request import RANDOM_SEED, Sampling

DEFAULT_ORDER = ("penalties", "dry", "top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature")
"""llama-server's `samplers`."""

_ALIASES = {"nucleus": "top_p", "temp": "temperature", "typ": "typ_p", "typical_p": "typ_p"}
_NAMES = frozenset(DEFAULT_ORDER) | {"infill", "adaptive_p"}
_BY_SQUEEZED = {name.replace("_", ""): name for name in _NAMES}
_MIROSTAT_CANDIDATES = 100
_MAX_LOOK_BACK = 2**20
"""llama.cpp reserves a ring of this many tokens a sequence."""
_LARGE_VOCABULARY = 100_000
"""Where numpy finds the shortlist sooner than llama.cpp sorts everything; with penalties it does anywhere."""
_MOST_WATCHED = 512
"""Tokens that biases and penalties may move, for which a shortlist is still made."""


def sampler_name(name: str) -> str | None:
    """llama-server's long name for any of its spellings (top-k, topk, nucleus, …); None: there is no such sampler."""
    lower = name.lower()
    squeezed = lower.replace("-", "").replace("_", "")
    return _ALIASES.get(lower) or _BY_SQUEEZED.get(squeezed) or _ALIASES.get(squeezed)


class Sampler:
    """One sequence's chain. Call from the thread that decodes; close() frees it.

    seed: the one in use, also when the request asked for a random one.  dry: where DRY samplers are copied from.
    Raises InvalidField when a parameter is out of range.
    """

    def __init__(self, vocab: Vocab, sampling: Sampling, *, n_context: int, dry: DryPrototypes | None = None) -> None:
        _check(sampling, vocab)
        self._dry = dry or DryPrototypes(vocab)
        self.seed = secrets.randbits(32) % RANDOM_SEED if sampling.seed == RANDOM_SEED else sampling.seed
        self._sampling = sampling
        self._vocab = vocab
        self._look_back = _look_back(sampling.repeat_last_n, n_context)
        self._dry_look_back = _look_back(sampling.dry_penalty_last_n, n_context)
        self._greedy = _is_greedy(sampling, vocab)
        self._best = 0 if self._greedy else _best_that_matter(sampling)
        self._biased = frozenset(token for token, _ in _biases(sampling, vocab))
        self._recent: deque[int] = deque(maxlen=self._look_back if _penalises(sampling) else 0)
        if len(self._biased) + (self._recent.maxlen or 0) > _MOST_WATCHED:
            self._best = 0
        self._shortens = self._best > 0 and (bool(self._recent.maxlen) or vocab.n_tokens >= _LARGE_VOCABULARY)
        params = ll.llama_sampler_chain_default_params()
        params.no_perf = True
        self._pointer: Any = ll.llama_sampler_chain_init(params)
        try:
            for link in self._links():
                if not link:
                    raise InvalidField("samplers", "llama.cpp refused one of the sampling parameters")
                ll.llama_sampler_chain_add(self._pointer, link)
        except BaseException:
            self.close()
            raise

    def sample(self, context: Context, row: int, candidates: Candidates) -> int:
        """Draw from one row of the last batch and accept the token.

        Where nothing but the largest logit can win, that is looked up: a fifth of the time, and it is every step's.
        """
        if self._greedy:
            return int(context.logits(row).argmax())
        if self._shortens:
            self.fill(candidates, context.logits(row))
            token = self.draw(candidates)
            self.accept(token)
            return token
        context.require_output(row)
        return int(ll.llama_sampler_sample(self._pointer, context.pointer, row))

    def fill(self, candidates: Candidates, logits: NDArray[np.float32], mask: bytes | None = None) -> None:
        """Put in every candidate that this chain could choose (and the mask allows): all of them, or a shortlist.

        Raises NothingAllowed when the mask allows none.
        """
        watched: Collection[int] = self._biased | set(self._recent) if self._best else ()
        if mask is None:
            candidates.fill(logits, self._best, watched)
        else:
            candidates.fill_allowed(logits, mask, self._best, watched)

    def draw(self, candidates: Candidates) -> int:
        """Draw from candidates, which are cut and reordered; the token is not accepted yet.

        Raises ValueError when no candidate is left to choose.
        """
        ll.llama_sampler_apply(self._pointer, candidates.reference)
        return candidates.selected()

    def accept(self, token: int) -> None:
        """Remember a token that was taken."""
        self._recent.append(token)
        ll.llama_sampler_accept(self._pointer, token)

    def prime(self, tokens: Sequence[int]) -> None:
        """Let the penalties see the prompt. Does nothing when no sampler looks back."""
        look_back = self.history
        if look_back:
            accept, pointer = ll.llama_sampler_accept, self._pointer
            for token in tokens[-look_back:]:
                accept(pointer, token)
            self._recent.extend(tokens[-look_back:])

    @property
    def history(self) -> int:
        """How many tokens back any sampler of this chain looks."""
        sampling = self._sampling
        if sampling.mirostat:
            return 0
        penalised = self._look_back if _penalises(sampling) else 0
        return max(penalised, self._dry_look_back if sampling.dry_multiplier else 0)

    def close(self) -> None:
        if self._pointer:
            ll.llama_sampler_free(self._pointer)
            self._pointer = None

    def _links(self) -> Iterable[Any]:
        sampling, vocab = self._sampling, self._vocab
        biases = _biases(sampling, vocab)
        if biases:
            array = (ll.llama_logit_bias * len(biases))(*[ll.llama_logit_bias(*pair) for pair in biases])
            yield ll.llama_sampler_init_logit_bias(vocab.n_tokens, len(biases), array)
        if sampling.mirostat:
            yield ll.llama_sampler_init_temp(sampling.temperature)
            if sampling.mirostat == 1:
                yield ll.llama_sampler_init_mirostat(
                    vocab.n_tokens, self.seed, sampling.mirostat_tau, sampling.mirostat_eta, _MIROSTAT_CANDIDATES
                )
            else:
                yield ll.llama_sampler_init_mirostat_v2(self.seed, sampling.mirostat_tau, sampling.mirostat_eta)
            return
        order = _order(sampling)
        for name in order:
            if name != "adaptive_p":
                yield self._makers()[name]()
        if "adaptive_p" in order:
            yield ll.llama_sampler_init_adaptive_p(sampling.adaptive_target, sampling.adaptive_decay, self.seed)
        else:
            yield ll.llama_sampler_init_dist(self.seed)

    def _makers(self) -> dict[str, Callable[[], Any]]:
        s = self._sampling
        return {
            "penalties": lambda: ll.llama_sampler_init_penalties(
                self._vocab.n_tokens, self._look_back, s.repeat_penalty, s.frequency_penalty, s.presence_penalty
            ),
            "dry": lambda: self._dry.copy(s, self._dry_look_back),
            "top_n_sigma": lambda: ll.llama_sampler_init_top_n_sigma(s.top_n_sigma),
            "top_k": lambda: ll.llama_sampler_init_top_k(s.top_k),
            "typ_p": lambda: ll.llama_sampler_init_typical(s.typical_p, s.min_keep),
            "top_p": lambda: ll.llama_sampler_init_top_p(s.top_p, s.min_keep),
            "min_p": lambda: ll.llama_sampler_init_min_p(s.min_p, s.min_keep),
            "xtc": lambda: ll.llama_sampler_init_xtc(s.xtc_probability, s.xtc_threshold, s.min_keep, self.seed),
            "temperature": lambda: ll.llama_sampler_init_temp_ext(s.temperature, s.dynatemp_range, s.dynatemp_exponent),
            "infill": lambda: ll.llama_sampler_init_infill(self._vocab.pointer),
        }


def _order(sampling: Sampling) -> list[str]:
    """The samplers of the chain, by their long names; unknown ones left out, as llama-server does."""
    if sampling.samplers is None:
        return list(DEFAULT_ORDER)
    return [known for name in sampling.samplers if (known := sampler_name(name)) is not None]


def _penalises(sampling: Sampling) -> bool:
    return (sampling.repeat_penalty, sampling.presence_penalty, sampling.frequency_penalty) != (1.0, 0.0, 0.0)


def _is_greedy(sampling: Sampling, vocab: Vocab) -> bool:
    """Does the chain always choose the largest logit as the model gave it?"""
    order = _order(sampling)
    return (
        sampling.temperature <= 0.0
        and "temperature" in order
        and not {"infill", "adaptive_p"} & set(order)
        and sampling.mirostat == 0
        and sampling.dynatemp_range == 0.0
        and sampling.typical_p >= 1.0
        and sampling.xtc_probability <= 0.0
        and sampling.dry_multiplier == 0.0
        and not _penalises(sampling)
        and not _biases(sampling, vocab)
    )


def _best_that_matter(sampling: Sampling) -> int:
    """How many of the largest logits the chain looks at, whatever the others are; 0: at all of them.

    That is top_k's k, unless a sampler before it looks further. Biases and penalties move only the tokens they name.
    """
    order = _order(sampling)
    if sampling.mirostat or sampling.top_k <= 0 or "top_k" not in order:
        return 0
    looks_at_all = {
        "dry": sampling.dry_multiplier != 0.0,
        "top_n_sigma": sampling.top_n_sigma > 0.0,
        "typ_p": sampling.typical_p < 1.0,
        "top_p": sampling.top_p < 1.0,
        "min_p": sampling.min_p > 0.0,
        "xtc": sampling.xtc_probability > 0.0,
        "temperature": sampling.dynatemp_range != 0.0,
        "infill": True,
    }
    before = order[: order.index("top_k")]
    return 0 if any(looks_at_all.get(name, False) for name in before) else sampling.top_k


def _biases(sampling: Sampling, vocab: Vocab) -> list[tuple[int, float]]:
    """Every bias of the request, then what ignore_eos and the file ban."""
    biases = list(sampling.logit_bias)
    if sampling.ignore_eos:
        biases += [(token, -math.inf) for token in sorted(vocab.end_tokens)]
    return biases + [(token, -math.inf) for token in vocab.suppressed_tokens]


def _look_back(tokens: int, n_context: int) -> int:
    return min(n_context if tokens < 0 else tokens, _MAX_LOOK_BACK)


def _check(sampling: Sampling, vocab: Vocab) -> None:
    """Raise InvalidField for whatever llama.cpp would compute nonsense with, or end the process over."""
    s = sampling
    finite = {
        "temperature": s.temperature,
        "dynatemp_range": s.dynatemp_range,
        "dynatemp_exponent": s.dynatemp_exponent,
        "top_p": s.top_p,
        "min_p": s.min_p,
        "top_n_sigma": s.top_n_sigma,
        "xtc_probability": s.xtc_probability,
        "xtc_threshold": s.xtc_threshold,
        "typical_p": s.typical_p,
        "presence_penalty": s.presence_penalty,
        "frequency_penalty": s.frequency_penalty,
        "dry_multiplier": s.dry_multiplier,
        "dry_base": s.dry_base,
        "mirostat_tau": s.mirostat_tau,
        "mirostat_eta": s.mirostat_eta,
        "adaptive_target": s.adaptive_target,
        "adaptive_decay": s.adaptive_decay,
    }
    for name, value in finite.items():
        if not math.isfinite(value) or abs(value) > 3.4e38:
            raise InvalidField(name, "must be a finite number")
    if not (0.0 < s.repeat_penalty < math.inf) or s.repeat_penalty < 1e-38:
        raise InvalidField("repeat_penalty", "must be a finite number greater than 0")
    if s.mirostat not in (0, 1, 2):
        raise InvalidField("mirostat", "must be 0, 1 or 2")
    if not 0 <= s.seed <= RANDOM_SEED:
        raise InvalidField("seed", f"must be between 0 and {RANDOM_SEED}")
    for name, number in (("top_k", s.top_k), ("min_keep", s.min_keep), ("dry_allowed_length", s.dry_allowed_length)):
        if not -(2**31) <= number < 2**31:
            raise InvalidField(name, "must fit into 32 bits")
    if s.min_keep < 0:
        raise InvalidField("min_keep", "must be at least 0")
    for name, number in (("repeat_last_n", s.repeat_last_n), ("dry_penalty_last_n", s.dry_penalty_last_n)):
        if number < -1:
            raise InvalidField(name, "must be at least -1")
    banned = set()
    for token, bias in s.logit_bias:
        if token not in vocab:
            raise InvalidField("logit_bias", f"token {token} is not in the vocabulary")
        if math.isnan(bias) or bias == math.inf:
            raise InvalidField("logit_bias", "a bias must be a finite number, or false to ban a token")
        if bias == -math.inf:
            banned.add(token)
    if len(banned) >= vocab.n_tokens - len(vocab.suppressed_tokens) - len(vocab.end_tokens if s.ignore_eos else ()):
        raise InvalidField("logit_bias", "no token is left to choose")
