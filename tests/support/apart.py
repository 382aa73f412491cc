"""A model whose slots have caches of their own, with a LoRA adapter: what the room beside the context is made for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.exact import exact
from support.lora_gguf import write_lora
from support.small_gguf import write_dense

from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.llama.options import LoraFile


@contextmanager
def model_with_caches_apart(folder: Path) -> Iterator[LoadedModel]:
    """Four slots of 1024 tokens; files are written into folder."""
    lora = (LoraFile(str(write_lora(folder / "lora.gguf"))),)
    path = write_dense(folder / "dense.gguf")
    model = LoadedModel.load(exact(path, n_ctx=4096, n_ubatch=512, kv_unified=False, lora=lora))
    try:
        yield model
    finally:
        model.close()
