"""Threads, and the CPUs they stay on."""

from __future__ import annotations

import re

from ferrox_gguf.cli.flags.flag import Flag, Group, State, Value
from ferrox_gguf.cli.flags.values import choice, integer

MAX_CPUS = 512
"""ggml's limit (GGML_MAX_N_THREADS)."""
ONE_POLICY = "all work runs on one set of threads: set it with {}"
NO_THREADPOOL = "llama.cpp's own threads are used as they come; start the process under chrt or nice to change them"


def cpu_mask(mask: str) -> tuple[int, ...]:
    """Hexadecimal digits, the lowest bit being CPU 0."""
    try:
        bits = int(mask, 16)
    except ValueError:
        raise ValueError(f"{mask!r} is not a hexadecimal mask") from None
    cpus = tuple(cpu for cpu in range(MAX_CPUS) if bits >> cpu & 1)
    if not cpus or bits >> MAX_CPUS:
        raise ValueError(f"the mask names no CPU between 0 and {MAX_CPUS - 1}")
    return cpus


def cpu_range(span: str) -> tuple[int, ...]:
    """`lo-hi`, both included; either end may be left out."""
    matched = re.fullmatch(r"(\d*)-(\d*)", span)
    if not matched:
        raise ValueError(f"{span!r} is not lo-hi")
    first, last = int(matched[1] or 0), int(matched[2] or MAX_CPUS - 1)
    if not first <= last < MAX_CPUS:
        raise ValueError(f"{span!r} names no CPUs between 0 and {MAX_CPUS - 1}")
    return tuple(range(first, last + 1))


ROWS = (
    Flag(
        names=("-t", "--threads"),
        group=Group.CPU,
        value=integer(),
        env=("LLAMA_ARG_THREADS",),
        sets="context.cpu.n_threads",
        default="-1, the physical cores",
        help="threads while text is generated",
    ),
    Flag(
        names=("-tb", "--threads-batch"),
        group=Group.CPU,
        value=integer(),
        sets="context.cpu_batch.n_threads",
        default="as --threads",
        help="threads while prompts are read",
    ),
    Flag(
        names=("-C", "--cpu-mask"),
        group=Group.CPU,
        value=Value("M", cpu_mask),
        sets="context.cpu.cpus",
        default="any CPU",
        extends=True,
        help="CPUs to stay on, as a hexadecimal mask; adds to --cpu-range",
    ),
    Flag(
        names=("-Cr", "--cpu-range"),
        group=Group.CPU,
        value=Value("lo-hi", cpu_range),
        sets="context.cpu.cpus",
        default="any CPU",
        extends=True,
        help="CPUs to stay on, as a range; adds to --cpu-mask",
    ),
    Flag(
        names=("--cpu-strict",),
        group=Group.CPU,
        value=choice("0", "1", hint="<0|1>"),
        state=State.ACCEPTED,
        help="pin each thread to one CPU",
        why=NO_THREADPOOL,
    ),
    Flag(
        names=("--prio",),
        group=Group.CPU,
        value=integer(-1, 3),
        state=State.ACCEPTED,
        help="priority of the threads, from low (-1) to realtime (3)",
        why=NO_THREADPOOL,
    ),
    Flag(
        names=("--poll",),
        group=Group.CPU,
        value=integer(0, 100, hint="<0...100>"),
        state=State.ACCEPTED,
        help="how eagerly idle threads look for work",
        why=NO_THREADPOOL,
    ),
    Flag(
        names=("-Cb", "--cpu-mask-batch"),
        group=Group.CPU,
        value=Value("M", cpu_mask),
        state=State.ACCEPTED,
        help="CPUs for reading prompts, as a mask",
        why=ONE_POLICY.format("--cpu-mask"),
    ),
    Flag(
        names=("-Crb", "--cpu-range-batch"),
        group=Group.CPU,
        value=Value("lo-hi", cpu_range),
        state=State.ACCEPTED,
        help="CPUs for reading prompts, as a range",
        why=ONE_POLICY.format("--cpu-range"),
    ),
    Flag(
        names=("--cpu-strict-batch",),
        group=Group.CPU,
        value=choice("0", "1", hint="<0|1>"),
        state=State.ACCEPTED,
        help="pin each prompt thread to one CPU",
        why=NO_THREADPOOL,
    ),
    Flag(
        names=("--prio-batch",),
        group=Group.CPU,
        value=integer(0, 3),
        state=State.ACCEPTED,
        help="priority of prompt threads",
        why=NO_THREADPOOL,
    ),
    Flag(
        names=("--poll-batch",),
        group=Group.CPU,
        value=choice("0", "1", hint="<0|1>"),
        state=State.ACCEPTED,
        help="how eagerly idle prompt threads look for work",
        why=NO_THREADPOOL,
    ),
    Flag(
        names=("--numa",),
        group=Group.CPU,
        value=choice("distribute", "isolate", "numactl", hint="TYPE"),
        env=("LLAMA_ARG_NUMA",),
        sets="model.numa",
        help="on machines with several memory nodes: spread over all, stay on the first, or follow numactl",
    ),
    Flag(
        names=("--repack",),
        off=("-nr", "--no-repack"),
        group=Group.CPU,
        env=("LLAMA_ARG_REPACK",),
        sets="model.repack",
        help="lay weights out anew while loading, where that computes faster",
    ),
)
