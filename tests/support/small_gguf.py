"""Small F32 GGUFs with random weights, one for each kind of memory: dense, sliding window, recurrent, hybrid.

Their answers mean nothing; what counts is that their logits depend on everything that came before, so that a wrong cell
shows. All have the byte vocabulary of `gguf_vocab`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gguf import GGUFWriter
from support.gguf_vocab import ByteVocab

WINDOW = 32
"""Sliding window of `write_sliding`, in tokens."""


def write_dense(
    path: Path, *, n_ctx: int = 2048, seed: int = 0, name: str = "small-dense", layers: int = 2, add_bos: bool = False
) -> Path:
    """A llama: every cell is kept and may be cut anywhere.

    layers: with one, a cell depends on its own token and position alone, so that moved cells are exact too.
    """
    weights = _Weights(path, "llama", name, n_ctx, seed, layers=layers, add_bos=add_bos)
    width, heads = 64, 4
    weights.writer.add_head_count(heads)
    weights.writer.add_head_count_kv(2)
    weights.writer.add_layer_norm_rms_eps(1e-5)
    weights.writer.add_rope_dimension_count(width // heads)
    weights.writer.add_feed_forward_length(96)
    weights.add("output.weight", weights.n_vocab, width, scale=0.5)
    for layer in range(layers):
        weights.attention(f"blk.{layer}.", width, 32)
        weights.feed_forward(f"blk.{layer}.", width, 96)
    return weights.close()


def write_sliding(path: Path, *, n_ctx: int = 2048, seed: int = 1) -> Path:
    """A gemma2: every second layer sees only the last WINDOW tokens, and llama.cpp drops older cells."""
    weights = _Weights(path, "gemma2", "small-sliding", n_ctx, seed)
    width, heads = 64, 4
    weights.writer.add_head_count(heads)
    weights.writer.add_head_count_kv(2)
    weights.writer.add_key_length(width // heads)
    weights.writer.add_value_length(width // heads)
    weights.writer.add_layer_norm_rms_eps(1e-5)
    weights.writer.add_feed_forward_length(96)
    weights.writer.add_sliding_window(WINDOW)
    weights.writer.add_attn_logit_softcapping(50.0)
    weights.writer.add_final_logit_softcapping(30.0)
    for layer in range(2):
        block = f"blk.{layer}."
        weights.attention(block, width, 32)
        weights.feed_forward(block, width, 96)
        weights.ones(f"{block}post_attention_norm.weight", width)
        weights.ones(f"{block}post_ffw_norm.weight", width)
    return weights.close()


def write_recurrent(path: Path, *, n_ctx: int = 2048, seed: int = 2) -> Path:
    """A mamba: one state a sequence, which can be copied whole and never cut."""
    weights = _Weights(path, "mamba", "small-recurrent", n_ctx, seed)
    width, inner, state, rank, kernel = 64, 128, 16, 4, 4
    weights.writer.add_head_count(0)
    weights.writer.add_feed_forward_length(0)
    weights.writer.add_layer_norm_rms_eps(1e-5)
    weights.writer.add_ssm_conv_kernel(kernel)
    weights.writer.add_ssm_inner_size(inner)
    weights.writer.add_ssm_state_size(state)
    weights.writer.add_ssm_time_step_rank(rank)
    weights.add("output.weight", weights.n_vocab, width, scale=0.5)
    for layer in range(2):
        block = f"blk.{layer}."
        weights.ones(f"{block}attn_norm.weight", width)
        weights.add(f"{block}ssm_in.weight", 2 * inner, width)
        weights.add(f"{block}ssm_conv1d.weight", inner, kernel, scale=0.5)
        weights.add(f"{block}ssm_conv1d.bias", inner)
        weights.add(f"{block}ssm_x.weight", rank + 2 * state, inner)
        weights.add(f"{block}ssm_dt.weight", inner, rank)
        weights.add(f"{block}ssm_dt.bias", inner)
        rates = -np.tile(np.arange(1, state + 1, dtype=np.float32), (inner, 1)) / state
        weights.writer.add_tensor(f"{block}ssm_a", rates)
        weights.ones(f"{block}ssm_d", inner)
        weights.add(f"{block}ssm_out.weight", width, inner)
    return weights.close()


def write_hybrid(path: Path, *, n_ctx: int = 2048, seed: int = 3) -> Path:
    """An lfm2: attention in every second layer, a short recurrent state in the others."""
    weights = _Weights(path, "lfm2", "small-hybrid", n_ctx, seed, layers=4, output_norm="token_embd_norm")
    width, heads = 64, 4
    weights.writer.add_head_count(heads)
    weights.writer.add_head_count_kv([0, 2, 0, 2])
    weights.writer.add_layer_norm_rms_eps(1e-5)
    weights.writer.add_feed_forward_length(96)
    weights.writer.add_shortconv_l_cache(3)
    weights.add("output.weight", weights.n_vocab, width, scale=0.5)
    for layer in range(4):
        block = f"blk.{layer}."
        weights.feed_forward(block, width, 96)
        if layer % 2:
            weights.attention(block, width, 32)
            weights.ones(f"{block}attn_q_norm.weight", width // heads)
            weights.ones(f"{block}attn_k_norm.weight", width // heads)
        else:
            weights.ones(f"{block}attn_norm.weight", width)
            weights.add(f"{block}shortconv.conv.weight", width, 3, scale=0.5)
            weights.add(f"{block}shortconv.in_proj.weight", 3 * width, width)
            weights.add(f"{block}shortconv.out_proj.weight", width, width)
    return weights.close()


class _Weights:
    """A GGUF being written, with the parts that every architecture shares."""

    def __init__(
        self,
        path: Path,
        architecture: str,
        name: str,
        n_ctx: int,
        seed: int,
        *,
        layers: int = 2,
        add_bos: bool = False,
        output_norm: str = "output_norm",
    ) -> None:
        self.path = path
        self.writer = GGUFWriter(str(path), architecture)
        self._random = np.random.default_rng(seed)
        vocab = ByteVocab()
        self.n_vocab = len(vocab.texts)
        self.writer.add_name(name)
        self.writer.add_context_length(n_ctx)
        self.writer.add_embedding_length(64)
        self.writer.add_block_count(layers)
        self.writer.add_file_type(0)
        vocab.write(self.writer, add_bos=add_bos)
        self.add("token_embd.weight", self.n_vocab, 64, scale=1.0)
        self.ones(f"{output_norm}.weight", 64)

    def add(self, name: str, *shape: int, scale: float = 0.2) -> None:
        self.writer.add_tensor(name, (self._random.standard_normal(shape) * scale).astype(np.float32))

    def ones(self, name: str, width: int) -> None:
        self.writer.add_tensor(name, np.ones(width, np.float32))

    def attention(self, block: str, width: int, kv_width: int) -> None:
        self.ones(f"{block}attn_norm.weight", width)
        self.add(f"{block}attn_q.weight", width, width)
        self.add(f"{block}attn_k.weight", kv_width, width)
        self.add(f"{block}attn_v.weight", kv_width, width)
        self.add(f"{block}attn_output.weight", width, width)

    def feed_forward(self, block: str, width: int, inner: int) -> None:
        self.ones(f"{block}ffn_norm.weight", width)
        self.add(f"{block}ffn_gate.weight", inner, width)
        self.add(f"{block}ffn_up.weight", inner, width)
        self.add(f"{block}ffn_down.weight", width, inner)

    def close(self) -> Path:
        self.writer.write_header_to_file()
        self.writer.write_kv_data_to_file()
        self.writer.write_tensors_to_file()
        self.writer.close()
        return self.path
