"""Small F32 encoders with random weights: a bert that embeds, and one with a head that scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gguf import GGUFWriter, PoolingType
from support.gguf_vocab import EOS, ByteVocab


def write_bert(
    path: Path, *, rank: bool = False, n_ctx: int = 512, seed: int = 7, rerank_template: str = "", pad: bool = True
) -> Path:
    """Two layers that see both ways. The byte vocabulary, with <s> before a text and </s> after it unless not pad."""
    random = np.random.default_rng(seed)
    writer = GGUFWriter(str(path), "bert")
    width, inner = 64, 96
    writer.add_name("small-bert")
    writer.add_context_length(n_ctx)
    writer.add_embedding_length(width)
    writer.add_block_count(2)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(4)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_token_type_count(2)
    writer.add_file_type(0)
    writer.add_pooling_type(PoolingType.RANK if rank else PoolingType.CLS)
    vocab = ByteVocab()
    vocab.write(writer, add_bos=pad)
    writer.add_add_eos_token(pad)
    writer.add_sep_token_id(EOS)
    if rerank_template:
        writer.add_string("tokenizer.chat_template.rerank", rerank_template)

    def add(name: str, *shape: int, scale: float = 0.2) -> None:
        writer.add_tensor(name, (random.standard_normal(shape) * scale).astype(np.float32))

    def norm(name: str) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(width, np.float32))
        writer.add_tensor(f"{name}.bias", np.zeros(width, np.float32))

    def linear(name: str, out: int, into: int) -> None:
        add(f"{name}.weight", out, into)
        add(f"{name}.bias", out, scale=0.05)

    add("token_embd.weight", len(vocab.texts), width, scale=1.0)
    add("token_types.weight", 2, width)
    add("position_embd.weight", n_ctx, width)
    norm("token_embd_norm")
    for layer in range(2):
        block = f"blk.{layer}."
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            linear(block + name, width, width)
        norm(block + "attn_output_norm")
        linear(block + "ffn_up", inner, width)
        linear(block + "ffn_down", width, inner)
        norm(block + "layer_output_norm")
    if rank:
        linear("cls", width, width)
        linear("cls.output", 1, width)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
