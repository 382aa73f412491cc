"""DRY samplers are copied from prototypes: making one looks through the whole vocabulary (24 ms for 49k tokens).

That time would be the engine thread's, and so every other stream's.
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from typing import Any

import llama_cpp as ll

from ferrox_gguf.llama.vocab import Vocab
from ferrox_gguf.request import Sampling

_KEPT = 16
"""Different settings remembered; the least recently used one is freed."""


class DryPrototypes:
    """One sampler for each setting seen, never used itself. One thread."""

    def __init__(self, vocab: Vocab) -> None:
        self._vocab = vocab
        self._made: OrderedDict[tuple[object, ...], Any] = OrderedDict()

    def copy(self, sampling: Sampling, look_back: int) -> Any:
        """A fresh sampler with these settings."""
        key = (
            sampling.dry_multiplier,
            sampling.dry_base,
            sampling.dry_allowed_length,
            look_back,
            sampling.dry_sequence_breakers,
        )
        prototype = self._made.pop(key, None)
        if prototype is None:
            prototype = self._make(sampling, look_back)
        self._made[key] = prototype
        if len(self._made) > _KEPT:
            ll.llama_sampler_free(self._made.popitem(last=False)[1])
        return ll.llama_sampler_clone(prototype)

    def _make(self, sampling: Sampling, look_back: int) -> Any:
        breakers = [text.encode("utf-8", errors="replace") for text in sampling.dry_sequence_breakers]
        array = (ctypes.c_char_p * max(len(breakers), 1))(*breakers)
        return ll.llama_sampler_init_dry(
            self._vocab.pointer,
            sampling.dry_multiplier,
            sampling.dry_base,
            sampling.dry_allowed_length,
            look_back,
            array,
            len(breakers),
        )
