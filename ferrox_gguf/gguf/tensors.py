"""The tensor infos: how many weights, in which types, and how long the file has to be.

A download that stopped early has a perfect header; only the last tensor's end shows that the file is cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from ferrox_gguf.gguf.cursor import Cursor

_MOST_DIMENSIONS = 4
_LONGEST_NAME = 63
_MOST_ELEMENTS = 1 << 63


@dataclass(frozen=True, slots=True)
class TensorTable:
    """count: tensors.  parameters: elements in all of them.  kinds: ggml type name → number of tensors.

    data_start: byte offset of the first tensor's data.
    """

    count: int
    parameters: int
    kinds: Mapping[str, int]
    data_start: int


def read_tensors(cursor: Cursor, count: int, alignment: object) -> TensorTable:
    """Read `count` infos from the cursor on, and check that the file is long enough for their data."""
    if type(alignment) is not int or alignment < 1 or alignment & (alignment - 1):
        cursor.fail(f"general.alignment is {alignment!r}, not a power of two")
    names: set[str] = set()
    kinds: Counter[str] = Counter()
    parameters = data_length = 0
    last = ""
    for _ in range(count):
        name, elements, kind, begin, length = _read_info(cursor)
        if name in names:
            cursor.fail(f"there are two tensors named {name}")
        if begin % alignment:
            cursor.fail(f"tensor {name} is not aligned to {alignment} bytes")
        names.add(name)
        kinds[kind] += 1
        parameters += elements
        if begin + length > data_length:
            data_length, last = begin + length, name
    data_start = -(-cursor.position // alignment) * alignment
    missing = data_start + data_length - (cursor.position + cursor.left)
    if data_length and missing > 0:
        cursor.fail(f"the file is cut: {missing} bytes of tensor data are missing (up to {last}); download it again")
    return TensorTable(count, parameters, dict(kinds), data_start)


def _read_info(cursor: Cursor) -> tuple[str, int, str, int, int]:
    """Name, elements, type name, and the place of the data relative to the data section: offset and length in bytes."""
    name = cursor.string("a tensor name")
    if len(name) > _LONGEST_NAME:
        cursor.fail(f"a tensor name is {len(name)} characters long")
    dimensions = cursor.u32(f"the dimensions of tensor {name}")
    if dimensions > _MOST_DIMENSIONS:
        cursor.fail(f"tensor {name} claims {dimensions} dimensions")
    shape = [cursor.u64(f"the shape of tensor {name}") for _ in range(dimensions)]
    elements = prod(shape)
    if elements >= _MOST_ELEMENTS:
        cursor.fail(f"tensor {name} claims the shape {shape}")
    kind = cursor.u32(f"the type of tensor {name}")
    begin = cursor.u64(f"the offset of tensor {name}")
    try:
        ggml = GGMLQuantizationType(kind)
        block, octets = GGML_QUANT_SIZES[ggml]
    except (KeyError, ValueError):
        # A type newer than the gguf package: its size is unknown here, and llama.cpp decides about it.
        return name, elements, f"type {kind}", begin, 0
    return name, elements, ggml.name, begin, elements // block * octets
