"""One GGUF's weights in memory, and the facts that llama.cpp knows about them.

`options.py` says how to load; `vocab.py` reads the vocabulary; `context.py` makes something that can be decoded with.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llama_cpp as ll

from ferrox_gguf.errors import GgufError, StartupError
from ferrox_gguf.llama import library
from ferrox_gguf.llama.devices import buffer_overrides, device_list
from ferrox_gguf.llama.options import KvOverrideValue, LazyMode, LoadMode, ModelOptions, SplitMode

logger = logging.getLogger(__name__)

Progress = Callable[[float], bool]
"""Told how much is loaded, 0.0 to 1.0; answers whether to go on."""

_SPLIT = {SplitMode.NONE: 0, SplitMode.LAYER: 1, SplitMode.ROW: 2, SplitMode.TENSOR: 3}
_LOAD = {
    LoadMode.AUTO: -1,
    LoadMode.NONE: 0,
    LoadMode.MMAP: 1,
    LoadMode.MLOCK: 2,
    LoadMode.MMAP_MLOCK: 3,
    LoadMode.DIRECT_IO: 4,
}
_LAZY = {LazyMode.OFF: 0, LazyMode.AUTO: 1, LazyMode.ON: 2}
_GGUF_MAGIC = b"GGUF"


class LoadCancelled(StartupError):
    """The progress callback asked to stop. Nothing is left in memory."""


class Model:
    """Weights that llama.cpp holds. Safe to read from any thread; freed by close(), after every context of it.

    Raises GgufError from `load` when the file is missing, cut, or not a model this llama.cpp can run.
    """

    def __init__(self, pointer: int, options: ModelOptions) -> None:
        self.pointer = pointer
        self.options = options
        self.n_ctx_train = int(ll.llama_model_n_ctx_train(pointer))
        self.n_embd = int(ll.llama_model_n_embd(pointer))
        self.n_embd_out = int(ll.llama_model_n_embd_out(pointer))
        self.n_layer = int(ll.llama_model_n_layer(pointer))
        self.n_head = int(ll.llama_model_n_head(pointer))
        self.n_head_kv = int(ll.llama_model_n_head_kv(pointer))
        self.n_swa = int(ll.llama_model_n_swa(pointer))
        self.n_params = int(ll.llama_model_n_params(pointer))
        self.size = int(ll.llama_model_size(pointer))
        self.is_recurrent = bool(ll.llama_model_is_recurrent(pointer))
        self.is_hybrid = bool(ll.llama_model_is_hybrid(pointer))
        self.is_diffusion = bool(ll.llama_model_is_diffusion(pointer))
        self.has_encoder = bool(ll.llama_model_has_encoder(pointer))
        self.has_decoder = bool(ll.llama_model_has_decoder(pointer))
        self.description = _text(ll.llama_model_desc, pointer)
        self.file_type = bytes(ll.llama_ftype_name(ll.llama_model_ftype(pointer)) or b"").decode(errors="replace")

    @classmethod
    def load(cls, options: ModelOptions, progress: Progress | None = None) -> Model:
        """Read the file. Blocks for the whole load; progress is called on this thread."""
        _check_file(options.path)
        library.start(options.numa)
        library.forget_errors()
        cancelled = False

        def report(fraction: float, _user_data: object) -> bool:
            nonlocal cancelled
            if progress is not None and not progress(float(fraction)):
                cancelled = True
            return not cancelled

        params = ll.llama_model_default_params()
        keep_alive = _fill(params, options)
        params.progress_callback = ll.llama_progress_callback(report)
        pointer = ll.llama_model_load_from_file(str(options.path).encode(), params)
        del keep_alive
        if not pointer:
            if cancelled:
                raise LoadCancelled("loading was cancelled")
            raise GgufError(options.path, library.first_error() or "llama.cpp could not load it")
        return cls(int(pointer), options)

    def meta(self, key: str) -> str | None:
        """A scalar or string of the file's metadata, as text; None when it is absent (or an array)."""
        size = int(ll.llama_model_meta_val_str(self.pointer, key.encode(), None, 0))
        if size < 0:
            return None
        buffer = ctypes.create_string_buffer(size + 1)
        ll.llama_model_meta_val_str(self.pointer, key.encode(), buffer, size + 1)
        return buffer.raw[:size].decode("utf-8", errors="replace")

    def metadata(self) -> dict[str, str]:
        """Every scalar and string of the file's metadata."""
        found = {}
        for index in range(int(ll.llama_model_meta_count(self.pointer))):
            key = _text(ll.llama_model_meta_key_by_index, self.pointer, index)
            value = self.meta(key)
            if value is not None:
                found[key] = value
        return found

    def chat_template(self, name: str | None = None) -> str | None:
        """The embedded template's source, or None."""
        found = ll.llama_model_chat_template(self.pointer, name.encode() if name else None)
        return bytes(found).decode("utf-8", errors="replace") if found else None

    @property
    def architecture(self) -> str:
        return self.meta("general.architecture") or ""

    @property
    def classifier_outputs(self) -> int:
        """Scores that a rank-pooled sequence yields (rerankers)."""
        return int(ll.llama_model_n_cls_out(self.pointer))

    def close(self) -> None:
        """Free the weights. Contexts and adapters must be gone."""
        if self.pointer:
            ll.llama_model_free(self.pointer)
            self.pointer = 0


def _check_file(path: str) -> None:
    """What can be said without llama.cpp, in words of its own."""
    file = Path(path)
    try:
        with file.open("rb") as opened:
            magic = opened.read(4)
    except FileNotFoundError:
        raise GgufError(path, "no such file") from None
    except IsADirectoryError:
        raise GgufError(path, "is a directory, not a GGUF file") from None
    except OSError as error:
        raise GgufError(path, error.strerror or str(error)) from None
    if magic != _GGUF_MAGIC:
        raise GgufError(path, "not a GGUF file (it does not begin with GGUF)")


def _fill(params: Any, options: ModelOptions) -> list[object]:
    """Set llama_model_params; the returned objects must live until the load is over."""
    params.n_gpu_layers = options.n_gpu_layers
    params.split_mode = _SPLIT[options.split_mode]
    params.load_mode = _LOAD[options.load_mode]
    params.lazy_mode = _LAZY[options.lazy_mode]
    params.main_gpu = options.main_gpu
    params.check_tensors = options.check_tensors
    params.use_extra_bufts = options.repack
    params.no_host = options.no_host
    keep_alive: list[object] = []
    if options.tensor_split:
        proportions = (ctypes.c_float * ll.llama_max_devices())(*options.tensor_split)
        params.tensor_split = proportions
        keep_alive.append(proportions)
    if options.override_kv:
        overrides = _overrides(options.override_kv)
        params.kv_overrides = overrides
        keep_alive.append(overrides)
    if options.devices:
        devices = device_list(options.devices)
        params.devices = ctypes.cast(devices, ctypes.c_void_p)
        keep_alive.append(devices)
    if options.tensor_buffers:
        buffers = buffer_overrides(options.tensor_buffers)
        params.tensor_buft_overrides = ctypes.cast(buffers, ctypes.c_void_p)
        keep_alive.append(buffers)
    return keep_alive


def _overrides(pairs: tuple[tuple[str, KvOverrideValue], ...]) -> Any:
    """A llama_model_kv_override array, closed by an empty key."""
    array = (ll.llama_model_kv_override * (len(pairs) + 1))()
    for entry, (key, value) in zip(array, pairs, strict=False):
        encoded = key.encode()
        if len(encoded) > 127:
            raise StartupError(f"--override-kv: key {key!r} is longer than 127 bytes")
        entry.key = encoded
        if isinstance(value, bool):
            entry.tag, entry.value.val_bool = ll.LLAMA_KV_OVERRIDE_TYPE_BOOL, value
        elif isinstance(value, int):
            entry.tag, entry.value.val_i64 = ll.LLAMA_KV_OVERRIDE_TYPE_INT, value
        elif isinstance(value, float):
            entry.tag, entry.value.val_f64 = ll.LLAMA_KV_OVERRIDE_TYPE_FLOAT, value
        else:
            text = value.encode()
            if len(text) > 127:
                raise StartupError(f"--override-kv: the value of {key} is longer than 127 bytes")
            entry.tag, entry.value.val_str = ll.LLAMA_KV_OVERRIDE_TYPE_STR, text
    return array


def _text(function: Callable[..., int], *arguments: object) -> str:
    """Call one of llama.cpp's "write into this buffer" functions with a buffer that is large enough."""
    buffer = ctypes.create_string_buffer(256)
    size = int(function(*arguments, buffer, len(buffer)))
    if size >= len(buffer):
        buffer = ctypes.create_string_buffer(size + 1)
        size = int(function(*arguments, buffer, len(buffer)))
    return buffer.raw[: max(size, 0)].decode("utf-8", errors="replace")
