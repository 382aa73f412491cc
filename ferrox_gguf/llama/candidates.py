"""One row of logits as llama.cpp's candidate array, in memory of ours: cut to a shortlist, masked, looked at."""

from __future__ import annotations

import ctypes
from collections.abc import Collection
from typing import Any

import llama_cpp as ll
import numpy as np
from numpy.typing import NDArray

from ferrox_gguf.llama.shortlist import shortlist
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

    def fill(self, logits: NDArray[np.float32], best: int = 0, also: Collection[int] = ()) -> None:
        """Every token is a candidate; or, where that is quicker, only the `best` best and those of `also`."""
        ids = shortlist(logits, best + len(also), also) if best else None
        if ids is not None:
            self._put(ids, logits[ids])
            return
        self._rows["id"] = self._ids
        self._rows["logit"] = logits
        self._reset(self.n_vocab)

    def fill_allowed(self, logits: NDArray[np.float32], mask: bytes, best: int = 0, also: Collection[int] = ()) -> None:
        """Only tokens whose bit is set (little-endian uint32 words) are candidates; of those, the same as in fill().

        Raises NothingAllowed when there are none.
        """
        bits = np.unpackbits(np.frombuffer(mask, np.uint8), bitorder="little")[: self.n_vocab]
        allowed = np.flatnonzero(bits)
        if allowed.size == 0:
            raise NothingAllowed
        theirs = logits[allowed]
        if best:
            wanted = np.searchsorted(allowed, [token for token in also if bits[token]])
            among = shortlist(theirs, best + len(also), wanted.tolist())
            if among is not None:
                allowed, theirs = allowed[among], theirs[among]
        self._put(allowed, theirs)

    @property
    def size(self) -> int:
        """How many there are now."""
        return int(self._array.size)

    def selected(self) -> int:
        """The id that the chain chose. Raises NothingAllowed when it chose none."""
        index, size = int(self._array.selected), self.size
        if not 0 <= index < size:
            raise NothingAllowed
        return int(self._array.data[index].id)

    def best(self, count: int, chosen: int) -> tuple[float, list[tuple[int, float]]]:
        """After a draw: the chosen token's probability, and the most likely candidates with theirs, zeros left out."""
        size = self.size
        if size == 0:
            return 0.0, []
        rows = records(self._array.data, size, _ROW)
        order = np.argsort(-rows["p"], kind="stable")[:count]
        top = [(int(rows["id"][i]), float(rows["p"][i])) for i in order if rows["p"][i] > 0.0]
        at = np.flatnonzero(rows["id"] == chosen)
        return (float(rows["p"][at[0]]) if at.size else 0.0), top

    def _put(self, ids: NDArray[np.intp], logits: NDArray[np.float32]) -> None:
        self._rows["id"][: ids.size] = ids
        self._rows["logit"][: ids.size] = logits
        self._reset(int(ids.size))

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
