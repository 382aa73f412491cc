"""Finding string boundaries in bulk equals following the chain one by one."""

from __future__ import annotations

import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ferrox_gguf.gguf.strings import walk_strings


def laid_out(texts: list[bytes]) -> bytes:
    return b"".join(struct.pack("<Q", len(text)) + text for text in texts)


def one_by_one(data: bytes, start: int, count: int) -> tuple[list[int], int]:
    offsets, position = [], start
    for _ in range(count):
        offsets.append(position)
        position += 8 + struct.unpack_from("<Q", data, position)[0]
    return offsets, position


ordinary = st.text(max_size=12).map(str.encode)
awkward = st.sampled_from([b"", b"\0", b"\0" * 9, b"a\0\0\0\0\0\0\0b", b"x" * 256, b"y" * 70000, struct.pack("<Q", 3)])


@given(st.lists(ordinary | awkward, max_size=80), st.binary(max_size=9), st.binary(max_size=20))
def test_the_walk_finds_every_string_whatever_it_holds(texts: list[bytes], before: bytes, after: bytes) -> None:
    data = before + laid_out(texts) + after
    offsets, end = walk_strings(np.frombuffer(data, np.uint8), len(before), len(texts))
    assert (offsets.tolist(), end) == one_by_one(data, len(before), len(texts))


@given(st.lists(ordinary | awkward, min_size=1, max_size=40), st.data())
def test_a_cut_array_ends_behind_the_file(texts: list[bytes], data: st.DataObject) -> None:
    whole = laid_out(texts)
    cut = data.draw(st.integers(0, len(whole) - 1))
    _, end = walk_strings(np.frombuffer(whole[:cut], np.uint8), 0, len(texts))
    assert end > cut


def test_arrays_larger_than_a_block_are_walked_whole() -> None:
    texts = [f"token {number}".encode() for number in range(150_000)]
    texts[77_777] = b"\0nul\0"
    data = laid_out(texts)
    offsets, end = walk_strings(np.frombuffer(data, np.uint8), 0, len(texts))
    assert (offsets.tolist(), end) == one_by_one(data, 0, len(texts))
