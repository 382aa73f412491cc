"""Adapters for the dense small model, with effects that are as large as a test wants, or known to the last digit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gguf import GGUFWriter


def write_lora(path: Path, *, strength: float = 1.0, seed: int = 5) -> Path:
    """Rank 4 on the attention output of the first layer; strength 0 changes nothing."""
    random = np.random.default_rng(seed)
    writer = GGUFWriter(str(path), "llama")
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 4.0)
    width, rank = 64, 4
    a = random.standard_normal((rank, width)).astype(np.float32)
    b = (strength * random.standard_normal((width, rank))).astype(np.float32)
    writer.add_tensor("blk.0.attn_output.weight.lora_a", a)
    writer.add_tensor("blk.0.attn_output.weight.lora_b", b)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_token_lora(path: Path, token: int, direction: np.ndarray, *, n_vocab: int) -> Path:
    """Rank 1 on the output: adds scale times (direction · hidden state) to one token's logit, and nothing else."""
    writer = GGUFWriter(str(path), "llama")
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 1.0)
    writer.add_tensor("output.weight.lora_a", direction.astype(np.float32)[np.newaxis])
    writer.add_tensor("output.weight.lora_b", np.eye(1, n_vocab, token, dtype=np.float32).T.copy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_control_vector(path: Path, layer: int, direction: np.ndarray) -> Path:
    """One direction for one layer (the second is 1)."""
    writer = GGUFWriter(str(path), "controlvector")
    writer.add_tensor(f"direction.{layer}", direction.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
