"""Devices, and which weights lie where."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from ferrox_gguf.cli.flags.flag import Flag, Group, State, Value
from ferrox_gguf.cli.flags.values import choice, comma_list, integer, on_off, text
from ferrox_gguf.settings import Settings

CPU_MEMORY = "CPU"
"""ggml's name for plain memory."""

EXPERTS = r"\.ffn_(gate|up|down|gate_up)_(ch)?exps"
FEED_FORWARD = r"\.ffn_(gate|up|down)\."


def gpu_layers(layers: str) -> int:
    """A number, or `auto` (-1), or `all` (-2)."""
    if layers in ("auto", "all"):
        return -1 if layers == "auto" else -2
    try:
        return int(layers)
    except ValueError:
        raise ValueError(f"expected a whole number, auto or all, got {layers!r}") from None


def proportions(shares: str) -> tuple[float, ...]:
    """Numbers between commas or slashes."""
    try:
        return tuple(float(share) for share in re.split("[,/]+", shares))
    except ValueError:
        raise ValueError(f"{shares!r} is not a list of numbers") from None


def with_buffers(settings: Settings, buffers: object) -> Settings:
    """Adds to where tensors lie; what was said first counts where two patterns match."""
    assert isinstance(buffers, tuple)
    model = settings.model
    return replace(settings, model=replace(model, tensor_buffers=(*model.tensor_buffers, *buffers)))


def experts_on_cpu(settings: Settings, on: object) -> Settings:
    """The experts of every layer."""
    return with_buffers(settings, ((EXPERTS, CPU_MEMORY),)) if on else settings


def first_layers(tensors: str) -> Callable[[Settings, object], Settings]:
    """These tensors of as many layers as the flag says."""

    def apply(settings: Settings, layers: object) -> Settings:
        assert isinstance(layers, int)
        return with_buffers(settings, tuple((rf"blk\.{layer}{tensors}", CPU_MEMORY) for layer in range(layers)))

    return apply


def tensor_buffer(item: str) -> tuple[str, str]:
    """`pattern=buffer type`."""
    pattern, equals, buffer = item.partition("=")
    if not (pattern and equals and buffer):
        raise ValueError(f"{item!r} is not <tensor name pattern>=<buffer type>")
    return pattern, buffer


ROWS = (
    Flag(
        names=("-ngl", "--gpu-layers", "--n-gpu-layers"),
        group=Group.GPU,
        value=Value("N", gpu_layers, choices=("auto", "all")),
        env=("LLAMA_ARG_N_GPU_LAYERS",),
        sets="model.n_gpu_layers",
        default="auto",
        help="layers to keep in the GPU's memory: a number, auto or all",
    ),
    Flag(
        names=("-sm", "--split-mode"),
        group=Group.GPU,
        value=choice("none", "layer", "row", "tensor"),
        env=("LLAMA_ARG_SPLIT_MODE",),
        sets="model.split_mode",
        help="over several GPUs: one alone, whole layers, rows of weights, or weights and cache",
    ),
    Flag(
        names=("-ts", "--tensor-split"),
        group=Group.GPU,
        value=Value("N0,N1,N2,...", proportions),
        env=("LLAMA_ARG_TENSOR_SPLIT",),
        sets="model.tensor_split",
        default="by free memory",
        help="share of the model for each GPU, for example 3,1",
    ),
    Flag(
        names=("-mg", "--main-gpu"),
        group=Group.GPU,
        value=integer(0, hint="INDEX"),
        env=("LLAMA_ARG_MAIN_GPU",),
        sets="model.main_gpu",
        help="the GPU that holds the model (--split-mode none) or the results in between (row)",
    ),
    Flag(
        names=("-dev", "--device"),
        group=Group.GPU,
        value=comma_list("<dev1,dev2,..>", needed=True),
        env=("LLAMA_ARG_DEVICE",),
        sets="model.devices",
        default="all that --list-devices prints",
        help="devices to use, by name; none keeps everything on the CPU",
    ),
    Flag(
        names=("-ot", "--override-tensor"),
        group=Group.GPU,
        value=comma_list("<pattern>=<buffer>,...", tensor_buffer),
        env=("LLAMA_ARG_OVERRIDE_TENSOR",),
        sets=with_buffers,
        help="put tensors whose name matches into this kind of memory",
    ),
    Flag(
        names=("-cmoe", "--cpu-moe"),
        group=Group.GPU,
        env=("LLAMA_ARG_CPU_MOE",),
        sets=experts_on_cpu,
        help="keep all experts of a mixture in the CPU's memory",
    ),
    Flag(
        names=("-ncmoe", "--n-cpu-moe"),
        group=Group.GPU,
        value=integer(0),
        env=("LLAMA_ARG_N_CPU_MOE",),
        sets=first_layers(EXPERTS),
        default="0",
        help="keep the experts of the first N layers in the CPU's memory",
    ),
    Flag(
        names=("-ncffn", "--n-cpu-ffn"),
        group=Group.GPU,
        value=integer(0),
        env=("LLAMA_ARG_N_CPU_FFN",),
        sets=first_layers(FEED_FORWARD),
        default="0",
        help="keep the feed-forward weights of the first N layers of a dense model in the CPU's memory",
    ),
    Flag(
        names=("-kvo", "--kv-offload"),
        off=("-nkvo", "--no-kv-offload"),
        group=Group.GPU,
        env=("LLAMA_ARG_KV_OFFLOAD",),
        sets="context.kv_offload",
        help="keep the KV cache with the layers that a GPU holds",
    ),
    Flag(
        names=("--op-offload",),
        off=("--no-op-offload",),
        group=Group.GPU,
        sets="model.op_offload",
        help="let a GPU compute large steps over weights in the CPU's memory",
    ),
    Flag(
        names=("--no-host",),
        group=Group.GPU,
        env=("LLAMA_ARG_NO_HOST",),
        sets="model.no_host",
        help="leave the pinned host buffer out, so that other kinds of memory can be used",
    ),
    Flag(
        names=("-fit", "--fit"),
        group=Group.GPU,
        value=on_off(),
        env=("LLAMA_ARG_FIT",),
        state=State.ACCEPTED,
        default="off",
        help="shrink what was not set until it fits the devices",
        why="sizes are taken as given; when memory runs out, lower -c or -ngl",
    ),
    Flag(
        names=("-fitt", "--fit-target"),
        group=Group.GPU,
        value=text("MiB0,MiB1,MiB2,..."),
        env=("LLAMA_ARG_FIT_TARGET",),
        state=State.ACCEPTED,
        help="memory that --fit leaves free",
        why="sizes are taken as given; when memory runs out, lower -c or -ngl",
    ),
    Flag(
        names=("-fitc", "--fit-ctx"),
        group=Group.GPU,
        value=integer(0),
        env=("LLAMA_ARG_FIT_CTX",),
        state=State.ACCEPTED,
        help="smallest context that --fit may choose",
        why="sizes are taken as given; when memory runs out, lower -c or -ngl",
    ),
    Flag(
        names=("--rpc",),
        group=Group.GPU,
        value=text("SERVERS"),
        env=("LLAMA_ARG_RPC",),
        state=State.REFUSED,
        help="compute on other machines",
        why="the library is not built with llama.cpp's RPC backend: serve on the machine that has the memory",
    ),
)
