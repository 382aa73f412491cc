"""A real GGUF that says exactly what a test wants, through llama.cpp's own tokenizer, cache, decode and sampler.

How: every weight of attention and feed-forward is zero and so is every token's embedding, so the hidden state at
position p is the position embedding of p alone. Every token that is ever said has a direction of its own; the position
before it points there, and the output matrix maps the direction to the token. What the prompt says does not matter,
only how many tokens it has; so one file can hold several lines, each behind a prompt of another length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from gguf import GGUFWriter, TokenType
from support.gguf_vocab import EOS, ByteVocab

_SURE = 4.0
"""Logit gap (times the norm's scale) between the scripted token and all others: certain at any sane temperature."""


@dataclass(frozen=True)
class Line:
    """What is said behind a prompt of so many tokens.

    script: pieces in order, each one token: a control or user-defined token, "<0xNN>" for one byte, or any text (which
        becomes a token of the vocabulary).
    start: tokens of the prompt (bytes, plus one a special token, plus one with add_bos).
    end: the token that follows the script, one of the control tokens or </s>.
    """

    start: int
    script: Sequence[str]
    end: str = "</s>"

    @property
    def stop(self) -> int:
        """The position behind the last token of the line."""
        return self.start + len(self.script) + 1


def write_scripted_gguf(
    path: str | Path,
    *,
    script: Sequence[str],
    start: int,
    chat_template: str = "",
    control: Sequence[str] = (),
    user_defined: Sequence[str] = (),
    end: str = "</s>",
    name: str = "scripted",
    n_ctx: int = 4096,
    add_bos: bool = False,
) -> list[int]:
    """A file with one line; the ids of its script. Arguments as in Line and write_lines."""
    (ids,) = write_lines(
        path,
        [Line(start, script, end)],
        chat_template=chat_template,
        control=control,
        user_defined=user_defined,
        name=name,
        n_ctx=n_ctx,
        add_bos=add_bos,
    )
    return ids


def write_lines(
    path: str | Path,
    lines: Sequence[Line],
    *,
    chat_template: str = "",
    control: Sequence[str] = (),
    user_defined: Sequence[str] = (),
    name: str = "scripted",
    n_ctx: int = 4096,
    add_bos: bool = False,
) -> list[list[int]]:
    """Write the file; the ids of each line's script.

    control: special tokens; llama.cpp takes those with well-known names (<|im_end|>, <|eot_id|>, …) as ends of
        generation by itself.
    Raises ValueError when two lines overlap or one does not fit into n_ctx.
    """
    in_order = sorted(lines, key=lambda line: line.start)
    if any(one.stop > other.start for one, other in pairwise(in_order)) or in_order[-1].stop > n_ctx:
        raise ValueError(f"these lines do not fit into {n_ctx} positions one behind the other")
    vocab = ByteVocab()
    vocab.add_all(control, TokenType.CONTROL)
    vocab.add_all(user_defined, TokenType.USER_DEFINED)
    ids = [[vocab.add(piece) for piece in line.script] for line in lines]
    spoken = {
        line.start - 1 + at: token
        for line, script in zip(lines, ids, strict=True)
        for at, token in enumerate([*script, EOS if line.end == "</s>" else vocab.texts.index(line.end)])
    }

    directions = {token: at for at, token in enumerate(sorted(set(spoken.values())))}
    width = -(-len(directions) // 32) * 32
    positions = np.zeros((n_ctx, width), np.float32)
    output = np.zeros((len(vocab.texts), width), np.float32)
    for position, token in spoken.items():
        positions[position, directions[token]] = 1.0
        output[token, directions[token]] = _SURE

    writer = GGUFWriter(str(path), "gpt2")
    writer.add_name(name)
    writer.add_context_length(n_ctx)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(1)
    writer.add_layer_norm_eps(1e-5)
    writer.add_file_type(0)
    vocab.write(writer, add_bos=add_bos)
    if chat_template:
        writer.add_chat_template(chat_template)
    for tensor, values in {
        "token_embd.weight": _zeros(len(vocab.texts), width),
        "position_embd.weight": positions,
        "output_norm.weight": np.ones(width, np.float32),
        "output_norm.bias": _zeros(width),
        "output.weight": output,
        "blk.0.attn_norm.weight": np.ones(width, np.float32),
        "blk.0.attn_norm.bias": _zeros(width),
        "blk.0.attn_qkv.weight": _zeros(3 * width, width),
        "blk.0.attn_qkv.bias": _zeros(3 * width),
        "blk.0.attn_output.weight": _zeros(width, width),
        "blk.0.attn_output.bias": _zeros(width),
        "blk.0.ffn_norm.weight": np.ones(width, np.float32),
        "blk.0.ffn_norm.bias": _zeros(width),
        "blk.0.ffn_up.weight": _zeros(32, width),
        "blk.0.ffn_up.bias": _zeros(32),
        "blk.0.ffn_down.weight": _zeros(width, 32),
        "blk.0.ffn_down.bias": _zeros(width),
    }.items():
        writer.add_tensor(tensor, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return ids


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)
