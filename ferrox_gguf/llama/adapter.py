"""LoRA adapters and control vectors: loaded beside a model, switched on a context.

Cells read with one set of adapters are wrong under another; the engine keys everything that it keeps by the set in use.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import llama_cpp as ll

from ferrox_gguf.errors import GgufError, StartupError
from ferrox_gguf.llama import library
from ferrox_gguf.llama.model import Model, _check_file
from ferrox_gguf.llama.options import LoraFile


@dataclass(frozen=True, slots=True)
class Adapter:
    """One loaded LoRA. pointer: freed with its model.  scale: as given at start."""

    pointer: Any
    path: str
    scale: float
    task_name: str = ""
    prompt_prefix: str = ""


def load_adapter(model: Model, file: LoraFile) -> Adapter:
    """Read an adapter for this model. Raises GgufError when it is not one, or was made for another model."""
    _check_file(file.path)
    library.forget_errors()
    pointer = ll.llama_adapter_lora_init(model.pointer, file.path.encode())
    if not pointer:
        raise GgufError(file.path, library.first_error() or "not a LoRA adapter for this model")
    if ll.llama_adapter_get_alora_n_invocation_tokens(pointer):
        # It counts from a word in the prompt on only; applied to all of it, it would answer wrongly.
        raise GgufError(file.path, "an activated LoRA (aLoRA) is not supported")
    return Adapter(
        pointer=pointer,
        path=file.path,
        scale=file.scale,
        task_name=_meta(pointer, "adapter.lora.task_name"),
        prompt_prefix=_meta(pointer, "adapter.lora.prompt_prefix"),
    )


def apply_adapters(context: int, adapters: list[tuple[Adapter, float]]) -> None:
    """Make this the context's whole set; a scale of 0 is the same as leaving the adapter out."""
    used = [(adapter.pointer, scale) for adapter, scale in adapters if scale != 0.0]
    pointers = (ll.llama_adapter_lora_p_ctypes * max(len(used), 1))(*[pointer for pointer, _ in used])
    scales = (ctypes.c_float * max(len(used), 1))(*[scale for _, scale in used])
    if ll.llama_set_adapters_lora(context, pointers, len(used), scales) != 0:
        raise StartupError("llama.cpp refused the LoRA adapters")


def _meta(pointer: Any, key: str) -> str:
    buffer = ctypes.create_string_buffer(1024)
    size = int(ll.llama_adapter_meta_val_str(pointer, key.encode(), buffer, len(buffer)))
    return buffer.raw[: min(max(size, 0), len(buffer) - 1)].decode("utf-8", errors="replace")
