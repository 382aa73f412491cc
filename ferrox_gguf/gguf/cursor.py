"""A bounds-checked place in a mapped file. Every way of running past its end is one GgufError with the offset."""

from __future__ import annotations

import mmap
from struct import Struct
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from ferrox_gguf.errors import GgufError
from ferrox_gguf.gguf.strings import walk_strings

_U32, _U64 = Struct("<I"), Struct("<Q")


class Cursor:
    """Reads little-endian values forward from `position`, an offset in bytes from the file's beginning.

    After an error the position is where the value that could not be read begins.
    """

    def __init__(self, path: str, mapped: mmap.mmap | bytes, position: int = 0) -> None:
        self.path, self.position = path, position
        self._mapped, self._size = mapped, len(mapped)
        self.octets: NDArray[np.uint8] = np.frombuffer(mapped, dtype=np.uint8)

    @property
    def left(self) -> int:
        """Bytes between here and the end of the file."""
        return self._size - self.position

    def fail(self, reason: str) -> NoReturn:
        raise GgufError(self.path, reason)

    def take(self, count: int, what: str) -> bytes:
        """The next count bytes. what: for the message, should the file end before."""
        begin = self.position
        self.skip(count, what)
        return self._mapped[begin : begin + count]

    def skip(self, count: int, what: str) -> None:
        if count > self.left:
            self.fail(
                f"the file is cut or damaged: {what} at byte {self.position} needs {count} bytes, {self.left} are left"
            )
        self.position += count

    def u32(self, what: str) -> int:
        return int(_U32.unpack(self.take(4, what))[0])

    def u64(self, what: str) -> int:
        return int(_U64.unpack(self.take(8, what))[0])

    def string(self, what: str) -> str:
        """A length and that many bytes of UTF-8; bytes that are not UTF-8 become U+FFFD, as they would for a reader."""
        begin = self.position
        try:
            return self.take(self.u64(what), what).decode("utf-8", errors="replace")
        except GgufError:
            self.position = begin
            raise

    def count(self, what: str, *, unit: int) -> int:
        """A number of things of at least `unit` bytes each, refused when the rest of the file cannot hold them."""
        number = self.u64(what)
        if number * unit > self.left:
            self.fail(f"the file is cut or damaged: it claims {number} {what}, {self.left} bytes are left")
        return number

    def strings(self, number: int, what: str) -> NDArray[np.int64]:
        """Step over number strings. Returns where each begins (its length field), without reading any."""
        offsets, end = walk_strings(self.octets, self.position, number)
        if end > self._size:
            self.fail(f"the file is cut or damaged: it ends within {what}")
        self.position = end
        return offsets
