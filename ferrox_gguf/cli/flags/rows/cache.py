"""What is kept of prompts that were read."""

from __future__ import annotations

from ferrox_gguf.cli.flags.flag import Flag, Group
from ferrox_gguf.cli.flags.values import folder, integer, number

ROWS = (
    Flag(
        names=("--cache-prompt",),
        off=("--no-cache-prompt",),
        group=Group.CACHE,
        env=("LLAMA_ARG_CACHE_PROMPT",),
        sets="generation.cache_prompt",
        help="start from what is already read of a prompt",
    ),
    Flag(
        names=("--cache-reuse",),
        group=Group.CACHE,
        value=integer(0),
        env=("LLAMA_ARG_CACHE_REUSE",),
        sets="generation.n_cache_reuse",
        default="0, off",
        help="also reuse pieces of at least N tokens that moved within the prompt",
    ),
    Flag(
        names=("-cram", "--cache-ram"),
        group=Group.CACHE,
        value=integer(-1),
        env=("LLAMA_ARG_CACHE_RAM",),
        sets="cache.ram_mib",
        default="8192; -1 no limit, 0 off",
        help="MiB of memory for prompts that no slot holds any more",
    ),
    Flag(
        names=("--cache-idle-slots",),
        off=("--no-cache-idle-slots",),
        group=Group.CACHE,
        env=("LLAMA_ARG_CACHE_IDLE_SLOTS",),
        sets="cache.save_idle_slots",
        help="move what idle slots hold there when it outweighs what runs (not with --slot-save-path)",
    ),
    Flag(
        names=("-ctxcp", "--ctx-checkpoints", "--swa-checkpoints"),
        group=Group.CACHE,
        value=integer(0),
        env=("LLAMA_ARG_CTX_CHECKPOINTS",),
        sets="cache.checkpoints",
        help="checkpoints per slot, for models whose cache cannot be cut (sliding window, recurrent, hybrid)",
    ),
    Flag(
        names=("-cms", "--checkpoint-min-step"),
        group=Group.CACHE,
        value=integer(0),
        env=("LLAMA_ARG_CHECKPOINT_MIN_SPACING_NT",),
        sets="cache.checkpoint_min_step",
        help="tokens between two checkpoints, at least",
    ),
    Flag(
        names=("-sps", "--slot-prompt-similarity"),
        group=Group.CACHE,
        value=number(0, 1, hint="SIMILARITY"),
        sets="cache.slot_prompt_similarity",
        default="0.1; 0 off",
        help="prefer a slot that holds at least this share of the prompt",
    ),
    Flag(
        names=("--slot-save-path",),
        group=Group.CACHE,
        value=folder(),
        sets="cache.slot_save_path",
        default="off",
        help="folder for POST /slots/{id}?action=save and restore",
    ),
)
