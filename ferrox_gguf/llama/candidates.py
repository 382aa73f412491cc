"""One row of logits as llama.cpp's candidate array, in memory of ours, so that a mask or a report can look at it.

Used only where `Sampler.sample` is not enough: a constraint refused the first draw, or probabilities were asked for.
"""

from __future__ import annotations

import ctypes
from typing import Any

import llama_cpp as ll
import numpy as np
from numpy.typing import NDArray

from ferrox_gguf.llama.views import records

_ROW = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
"""llama_token_data."""


class NothingAllowed(Exception):
    """No token is left to choose: everything was masked."""


class Candidates:
    """Reused buffer for up to n_vocab candidates; one thread."""

    def __init__(self, n_vocab: int) -> None:
        self.n_vocab = n_vocab
        self._ids = np.arange(n_vocab, dtype=np.int32)
        self._rows = np.zeros(n_vocab, _ROW)
        self._array = ll.llama_token_data_array()
        self.reference: Any = ctypes.byref(self._array)

    def fill(self, logits: NDArray[np.float32]) -> None:
        """Every token is a candidate."""
        self._rows["id"] = self._ids
        self._rows["logit"] = logits
        self._reset(self.n_vocab)

    def fill_allowed(self, logits: NDArray[np.float32], mask: bytes) -> None:
        """Only the tokens whose bit is set (little-endian uint32 words) are candidates.

        Raises NothingAllowed when there are none.
        """
        bits = np.unpackbits(np.frombuffer(mask, np.uint8), bitorder="little")[: self.n_vocab]
        allowed = np.flatnonzero(bits)
        if allowed.size == 0:
            raise NothingAllowed
        self._rows["id"][: allowed.size] = allowed
        self._rows["logit"][: allowed.size] = logits[allowed]
        self._reset(int(allowed.size))

    def selected(self) -> int:
        """The id that the chain chose. Raises NothingAllowed when it chose none."""
        index, size = int(self._array.selected), int(self._array.size)
        if not 0 <= index < size:
            raise NothingAllowed
        return int(self._array.data[index].id)

    def best(self, count: int, chosen: int) -> tuple[float, list[tuple[int, float]]]:
        """After a draw: the chosen token's probability, and the most likely candidates with theirs, zeros left out."""
        size = int(self._array.size)
        if size == 0:
            return 0.0, []
        rows = records(self._array.data, size, _ROW)
        order = np.argsort(-rows["p"], kind="stable")[:count]
        top = [(int(rows["id"][i]), float(rows["p"][i])) for i in order if rows["p"][i] > 0.0]
        at = np.flatnonzero(rows["id"] == chosen)
        return (float(rows["p"][at[0]]) if at.size else 0.0), top

    def _reset(self, size: int) -> None:
        self._rows["p"][:size] = 0.0
        self._array.data = ctypes.cast(self._rows.ctypes.data, ll.llama_token_data_p)
        self._array.size = size
        self._array.selected = -1
        self._array.sorted = False


def log_probabilities(logits: NDArray[np.float32], count: int, chosen: int) -> tuple[float, list[tuple[int, float]]]:
    """Before any sampler: the chosen token's natural log-probability, and those of the `count` most likely tokens."""
    wide = logits.astype(np.float64)
    total = float(wide.max())
    total += float(np.log(np.exp(wide - total).sum()))
    count = min(count, wide.size)
    if count == 0:
        return float(wide[chosen]) - total, []
    top = np.argpartition(-wide, count - 1)[:count]
    top = top[np.lexsort((top, -wide[top]))]
    return float(wide[chosen]) - total, [(int(token), float(wide[token]) - total) for token in top]
