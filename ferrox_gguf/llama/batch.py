"""The rows of one llama_decode, in arrays that Python fills through numpy views and llama.cpp reads in place.

The arrays are allocated once; a step overwrites them. Every row belongs to one sequence, so there is one sequence id a
row, and the pointers to them never change.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import llama_cpp as ll
import numpy as np


class Batch:
    """Room for `capacity` tokens.

    tokens, positions, slots (int32) and outputs (int8): rows 0 … n_tokens - 1 are in use.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.n_tokens = 0
        self.n_outputs = 0
        self.tokens = np.zeros(capacity, np.int32)
        self.positions = np.zeros(capacity, np.int32)
        self.slots = np.zeros(capacity, np.int32)
        self.outputs = np.zeros(capacity, np.int8)
        self._counts = np.ones(capacity, np.int32)
        address = self.slots.ctypes.data
        self._slot_pointers = np.arange(address, address + 4 * capacity, 4, dtype=np.uint64)
        self.native = ll.llama_batch(
            n_tokens=0,
            token=self.tokens.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)),
            embd=None,
            pos=self.positions.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)),
            n_seq_id=self._counts.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)),
            seq_id=self._slot_pointers.ctypes.data_as(ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))),
            logits=self.outputs.ctypes.data_as(ctypes.POINTER(ctypes.c_int8)),
        )

    def clear(self) -> None:
        self.n_tokens = self.n_outputs = 0

    def add(self, tokens: Sequence[int], *, slot: int, start: int, output: bool, all_outputs: bool = False) -> int:
        """Append tokens of one slot at KV positions start, start + 1, …; the index of the last one is returned.

        output: logits (or an embedding) are wanted of the last token; all_outputs: of every token.
        """
        first, count = self.n_tokens, len(tokens)
        last = first + count - 1
        if last >= self.capacity:
            raise ValueError(f"a batch holds {self.capacity} tokens, not {last + 1}")
        if count == 1:
            self.tokens[first] = tokens[0]
            self.positions[first] = start
            self.slots[first] = slot
        else:
            self.tokens[first : last + 1] = tokens
            self.positions[first : last + 1] = np.arange(start, start + count, dtype=np.int32)
            self.slots[first : last + 1] = slot
        self.outputs[first : last + 1] = all_outputs
        if output and not all_outputs:
            self.outputs[last] = 1
        self.n_outputs += count if all_outputs else int(output)
        self.n_tokens = last + 1
        return last
