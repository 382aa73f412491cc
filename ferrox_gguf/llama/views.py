"""numpy views over memory that llama.cpp owns."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray


def floats(pointer: Any, count: int) -> NDArray[np.float32]:
    """`count` floats behind a ctypes pointer, not copied. Raises ValueError for a null pointer."""
    memory: Any = (ctypes.c_float * count).from_address(_address(pointer))
    view: NDArray[np.float32] = np.frombuffer(memory, dtype=np.float32)
    return view


def records(pointer: Any, count: int, kind: np.dtype[Any]) -> NDArray[Any]:
    """`count` records of a structured type behind a ctypes pointer, not copied."""
    memory: Any = (ctypes.c_char * (count * kind.itemsize)).from_address(_address(pointer))
    view: NDArray[Any] = np.frombuffer(memory, dtype=kind)
    return view


def _address(pointer: Any) -> int:
    address = ctypes.cast(pointer, ctypes.c_void_p).value
    if not address:
        raise ValueError("llama.cpp has nothing there")
    return address
