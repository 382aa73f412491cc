"""ggml's devices and buffer types by name: what `--device` and `--override-tensor` mean.

llama-cpp-python does not wrap ggml's backend registry, so the four functions needed are declared here.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import llama_cpp as ll

from ferrox_gguf.errors import StartupError
from ferrox_gguf.llama import library

_CPU = 0
"""GGML_BACKEND_DEVICE_TYPE_CPU."""


class _BufferOverride(ctypes.Structure):
    """llama_model_tensor_buft_override."""

    _fields_ = (("pattern", ctypes.c_char_p), ("buft", ctypes.c_void_p))


@cache
def _ggml() -> ctypes.CDLL:
    """The ggml library that llama_cpp loaded, with the signatures used below."""
    from llama_cpp._ggml import libggml

    pointer, number = ctypes.c_void_p, ctypes.c_size_t
    for name, arguments, result in (
        ("ggml_backend_dev_count", (), number),
        ("ggml_backend_dev_get", (number,), pointer),
        ("ggml_backend_dev_name", (pointer,), ctypes.c_char_p),
        ("ggml_backend_dev_description", (pointer,), ctypes.c_char_p),
        ("ggml_backend_dev_type", (pointer,), ctypes.c_int),
        ("ggml_backend_dev_memory", (pointer, ctypes.POINTER(number), ctypes.POINTER(number)), None),
        ("ggml_backend_dev_buffer_type", (pointer,), pointer),
        ("ggml_backend_buft_name", (pointer,), ctypes.c_char_p),
    ):
        function = getattr(libggml, name)
        function.argtypes, function.restype = arguments, result
    library.start()
    loaded: ctypes.CDLL = libggml
    return loaded


def _all() -> list[int]:
    ggml = _ggml()
    return [ggml.ggml_backend_dev_get(index) for index in range(ggml.ggml_backend_dev_count())]


def describe_devices() -> tuple[str, ...]:
    """One line a device that a model can be offloaded to, as `--list-devices` prints them; the CPU is not one."""
    ggml, lines = _ggml(), []
    for device in _all():
        if ggml.ggml_backend_dev_type(device) == _CPU:
            continue
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        ggml.ggml_backend_dev_memory(device, ctypes.byref(free), ctypes.byref(total))
        name, description = ggml.ggml_backend_dev_name(device), ggml.ggml_backend_dev_description(device)
        lines.append(
            f"{name.decode()}: {description.decode(errors='replace')} "
            f"({total.value >> 20} MiB, {free.value >> 20} MiB free)"
        )
    return tuple(lines)


def device_list(names: tuple[str, ...]) -> Any:
    """A NULL-terminated array of devices, for llama_model_params.devices. ("none",) is an empty one."""
    ggml = _ggml()
    known = {
        ggml.ggml_backend_dev_name(device).decode(): device
        for device in _all()
        if ggml.ggml_backend_dev_type(device) != _CPU
    }
    wanted = () if names == ("none",) else names
    for name in wanted:
        if name not in known:
            raise StartupError(f"--device: no device {name!r} (known: {', '.join(sorted(known)) or 'none'})")
    return (ctypes.c_void_p * (len(wanted) + 1))(*[known[name] for name in wanted], None)


def buffer_overrides(pairs: tuple[tuple[str, str], ...]) -> Any:
    """A closed array of (tensor pattern, buffer type), for llama_model_params.tensor_buft_overrides."""
    ggml = _ggml()
    kinds = {}
    for device in _all():
        kind = ggml.ggml_backend_dev_buffer_type(device)
        if kind:
            kinds[ggml.ggml_backend_buft_name(kind).decode()] = kind
    array = (_BufferOverride * (len(pairs) + 1))()
    for entry, (pattern, name) in zip(array, pairs, strict=False):
        if name not in kinds:
            raise StartupError(f"--override-tensor: no buffer type {name!r} (known: {', '.join(sorted(kinds))})")
        entry.pattern, entry.buft = pattern.encode(), kinds[name]
    return array


def max_devices() -> int:
    """How many proportions `--tensor-split` may have."""
    return int(ll.llama_max_devices())
