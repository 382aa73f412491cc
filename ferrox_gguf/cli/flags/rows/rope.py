"""Positions beyond what the model was trained for."""

from __future__ import annotations

from ferrox_gguf.cli.flags.flag import Flag, Group
from ferrox_gguf.cli.flags.values import choice, integer, number

ROWS = (
    Flag(
        names=("--rope-scaling",),
        group=Group.ROPE,
        value=choice("none", "linear", "yarn"),
        env=("LLAMA_ARG_ROPE_SCALING_TYPE",),
        sets="context.rope.scaling",
        default="the model's own",
        help="how positions beyond the trained context are scaled",
    ),
    Flag(
        names=("--rope-scale",),
        group=Group.ROPE,
        value=number(0, nonzero=True),
        env=("LLAMA_ARG_ROPE_SCALE",),
        sets="context.rope.scale",
        default="the model's own",
        help="make the context N times longer",
    ),
    Flag(
        names=("--rope-freq-base",),
        group=Group.ROPE,
        value=number(0),
        env=("LLAMA_ARG_ROPE_FREQ_BASE",),
        sets="context.rope.frequency_base",
        default="the model's own",
        help="base frequency",
    ),
    Flag(
        names=("--rope-freq-scale",),
        group=Group.ROPE,
        value=number(0),
        env=("LLAMA_ARG_ROPE_FREQ_SCALE",),
        sets="context.rope.frequency_scale",
        default="the model's own",
        help="frequency factor: 1/N of --rope-scale",
    ),
    Flag(
        names=("--yarn-orig-ctx",),
        group=Group.ROPE,
        value=integer(0),
        env=("LLAMA_ARG_YARN_ORIG_CTX",),
        sets="context.rope.yarn_original_context",
        default="0, the model's own",
        help="YaRN: context that the model was trained for",
    ),
    Flag(
        names=("--yarn-ext-factor",),
        group=Group.ROPE,
        value=number(),
        env=("LLAMA_ARG_YARN_EXT_FACTOR",),
        sets="context.rope.yarn_extrapolation",
        default="-1, the model's own",
        help="YaRN: between interpolation (0) and extrapolation (1)",
    ),
    Flag(
        names=("--yarn-attn-factor",),
        group=Group.ROPE,
        value=number(),
        env=("LLAMA_ARG_YARN_ATTN_FACTOR",),
        sets="context.rope.yarn_attention",
        default="-1, the model's own",
        help="YaRN: attention magnitude",
    ),
    Flag(
        names=("--yarn-beta-slow",),
        group=Group.ROPE,
        value=number(),
        env=("LLAMA_ARG_YARN_BETA_SLOW",),
        sets="context.rope.yarn_beta_slow",
        default="-1, the model's own",
        help="YaRN: high correction dimension",
    ),
    Flag(
        names=("--yarn-beta-fast",),
        group=Group.ROPE,
        value=number(),
        env=("LLAMA_ARG_YARN_BETA_FAST",),
        sets="context.rope.yarn_beta_fast",
        default="-1, the model's own",
        help="YaRN: low correction dimension",
    ),
)
