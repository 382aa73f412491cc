"""Control vectors: a direction for each layer, added to what the layer says, for the whole life of a context."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

import llama_cpp as ll
import numpy as np
from gguf import GGMLQuantizationType, GGUFReader
from numpy.typing import NDArray

from ferrox_gguf.errors import GgufError, StartupError
from ferrox_gguf.llama.model import Model, _check_file
from ferrox_gguf.llama.options import ControlVectorFile

PREFIX = "direction."
"""Tensors are called direction.1, direction.2, …, by layer; the first layer has none."""


def apply_control_vectors(
    context: int, model: Model, files: Sequence[ControlVectorFile], layers: tuple[int, int] | None
) -> None:
    """Add them all, each times its scale. layers: first and last that get theirs, None for all.

    Raises GgufError for a file that is none, or that was made for a model of another width.
    """
    if not files:
        return
    total = np.zeros((max(model.n_layer - 1, 1), model.n_embd), np.float32)
    for file in files:
        for layer, direction in _directions(file.path, model.n_embd):
            if layer <= len(total):
                total[layer - 1] += file.scale * direction
    first, last = layers or (1, model.n_layer)
    data = total.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    if ll.llama_set_adapter_cvec(context, data, total.size, model.n_embd, first, last) != 0:
        raise StartupError("llama.cpp refused the control vectors")


def _directions(path: str, width: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
    _check_file(path)
    try:
        tensors: Any = GGUFReader(path).tensors
    except (ValueError, IndexError, KeyError) as error:
        raise GgufError(path, f"cannot be read as a control vector: {error}") from None
    for tensor in tensors:
        number = tensor.name.removeprefix(PREFIX)
        if not tensor.name.startswith(PREFIX) or not number.isdecimal() or int(number) == 0:
            raise GgufError(path, f"{tensor.name} is not a direction: this is no control vector")
        if tensor.tensor_type != GGMLQuantizationType.F32 or list(tensor.shape) != [width]:
            raise GgufError(path, f"{tensor.name} is not {width} 32-bit floats: it was made for another model")
        yield int(number), np.asarray(tensor.data, np.float32)
