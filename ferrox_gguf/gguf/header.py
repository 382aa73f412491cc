"""The header of one GGUF file: scalars and strings read, arrays only located.

Owns the format itself (magic, versions, key/value pairs, tensor infos). What the keys mean is facts.py's business.
Source: the GGUF specification; limits are those of llama.cpp's own loader, so a file passed here is not refused there
for its header.
"""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from struct import Struct
from typing import TypeAlias, Union

import numpy as np
from gguf.constants import GGUF_MAGIC, GGUFValueType
from numpy.typing import NDArray

from ferrox_gguf.errors import GgufError
from ferrox_gguf.gguf.cursor import Cursor
from ferrox_gguf.gguf.strange import what_it_is
from ferrox_gguf.gguf.tensors import TensorTable, read_tensors

Scalar: TypeAlias = Union[bool, int, float, str]

_VERSIONS = (2, 3)
_LONGEST_KEY = 65535
_SMALLEST_PAIR = 8 + 4 + 1  # an empty key, a type, one byte of value
_FORMATS: dict[int, Struct] = {
    GGUFValueType.UINT8: Struct("<B"),
    GGUFValueType.INT8: Struct("<b"),
    GGUFValueType.UINT16: Struct("<H"),
    GGUFValueType.INT16: Struct("<h"),
    GGUFValueType.UINT32: Struct("<I"),
    GGUFValueType.INT32: Struct("<i"),
    GGUFValueType.FLOAT32: Struct("<f"),
    GGUFValueType.BOOL: Struct("<?"),
    GGUFValueType.UINT64: Struct("<Q"),
    GGUFValueType.INT64: Struct("<q"),
    GGUFValueType.FLOAT64: Struct("<d"),
}


@dataclass(frozen=True, slots=True)
class ArraySpan:
    """Where an array stands. kind: GGUFValueType of its elements.  start: byte offset of the first.

    offsets: for strings, where the length field of each begins.
    """

    kind: int
    count: int
    start: int
    offsets: NDArray[np.int64] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Header:
    """One file's header, and the mapping it was read from (kept alive for the arrays)."""

    path: str
    version: int
    size: int
    scalars: Mapping[str, Scalar]
    arrays: Mapping[str, ArraySpan]
    tensors: TensorTable
    mapped: mmap.mmap

    def _typed(self, key: str, wanted: str, kinds: tuple[type, ...]) -> Scalar | None:
        value = self.scalars.get(key)
        if key in self.arrays or (value is not None and type(value) not in kinds):
            raise GgufError(self.path, f"{key} is not {wanted}")
        return value

    def string(self, key: str) -> str | None:
        """The value, or None when the key is absent. Raises GgufError when it is something else (all accessors do)."""
        value = self._typed(key, "a string", (str,))
        return None if value is None else str(value)

    def integer(self, key: str) -> int | None:
        value = self._typed(key, "an integer", (int,))
        return None if value is None else int(value)

    def boolean(self, key: str) -> bool | None:
        value = self._typed(key, "a boolean", (bool,))
        return None if value is None else bool(value)

    def array(self, key: str, kinds: tuple[int, ...], wanted: str) -> ArraySpan | None:
        span = self.arrays.get(key)
        if key in self.scalars or (span is not None and span.kind not in kinds):
            raise GgufError(self.path, f"{key} is not {wanted}")
        return span


def read_header(path: str) -> Header:
    """Read and check the header. Raises GgufError, naming what is wrong, for anything that is not a whole GGUF file."""
    mapped = _map(path)
    cursor = Cursor(path, mapped)
    version = _read_version(cursor)
    tensor_count = cursor.count("tensors", unit=8 + 4 + 4 + 8)
    pair_count = cursor.count("metadata entries", unit=_SMALLEST_PAIR)
    scalars: dict[str, Scalar] = {}
    arrays: dict[str, ArraySpan] = {}
    for _ in range(pair_count):
        key = _read_key(cursor)
        if key in scalars or key in arrays:
            cursor.fail(f"the metadata has {key} twice")
        kind = cursor.u32(f"the type of {key}")
        if kind == GGUFValueType.ARRAY:
            arrays[key] = _read_array(cursor, key)
        else:
            scalars[key] = _read_scalar(cursor, key, kind)
    alignment = scalars.get("general.alignment", 32)
    tensors = read_tensors(cursor, tensor_count, alignment)
    return Header(path, version, len(mapped), scalars, arrays, tensors, mapped)


def _map(path: str) -> mmap.mmap:
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise GgufError(path, "is a directory, not a GGUF file")
        if not stat.S_ISREG(mode):
            raise GgufError(path, "is not a regular file")
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise GgufError(path, "the file is empty")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise GgufError(path, "there is no such file") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise GgufError(path, f"cannot be read: {reason}") from None


def _read_version(cursor: Cursor) -> int:
    start = bytes(cursor.octets[:64])
    if start[:4] != GGUF_MAGIC.to_bytes(4, "little"):
        cursor.fail(f"is not a GGUF file: {what_it_is(start)}")
    cursor.skip(4, "the magic")
    version = cursor.u32("the version")
    if version not in _VERSIONS:
        if int.from_bytes(version.to_bytes(4, "little"), "big") in _VERSIONS:
            cursor.fail("is a big-endian GGUF; gguf-convert-endian of the gguf package turns it round")
        cursor.fail(f"is GGUF version {version}; versions 2 and 3 can be read")
    return version


def _read_key(cursor: Cursor) -> str:
    key = cursor.string("a metadata key")
    if len(key) > _LONGEST_KEY:
        cursor.fail(f"a metadata key is {len(key)} characters long")
    return key


def _read_scalar(cursor: Cursor, key: str, kind: int) -> Scalar:
    if kind == GGUFValueType.STRING:
        return cursor.string(key)
    layout = _FORMATS.get(kind)
    if layout is None:
        cursor.fail(f"{key} has the unknown type {kind}")
    value: Scalar = layout.unpack(cursor.take(layout.size, key))[0]
    return value


def _read_array(cursor: Cursor, key: str) -> ArraySpan:
    kind = cursor.u32(f"the element type of {key}")
    if kind == GGUFValueType.STRING:
        count = cursor.count(f"strings in {key}", unit=8)
        start = cursor.position
        return ArraySpan(kind, count, start, cursor.strings(count, key))
    if kind not in _FORMATS:
        cursor.fail(f"{key} is an array of the {'nested' if kind == GGUFValueType.ARRAY else 'unknown'} type {kind}")
    size = _FORMATS[kind].size
    count = cursor.count(f"elements in {key}", unit=size)
    start = cursor.position
    cursor.skip(count * size, key)
    return ArraySpan(kind, count, start)
