"""LoRA adapters and control vectors."""

from __future__ import annotations

from ferrox_gguf.cli.flags.flag import Flag, Group, Value
from ferrox_gguf.cli.flags.values import comma_list
from ferrox_gguf.settings import Adapter


def scaled(item: str) -> Adapter:
    """`file:scale`."""
    path, colon, scale = item.rpartition(":")
    try:
        strength = float(scale)
    except ValueError:
        strength = None
    if not (path and colon) or strength is None:
        raise ValueError(f"{item!r} is not FNAME:SCALE")
    return Adapter(path, strength)


def layer_range(words: str) -> tuple[int, int]:
    """Two layer numbers, both included."""
    try:
        first, last = (int(word) for word in words.split())
    except ValueError:
        raise ValueError(f"expected two whole numbers, got {words!r}") from None
    if not 0 <= first <= last:
        raise ValueError(f"{first} to {last} is not a range of layers")
    return first, last


ROWS = (
    Flag(
        names=("--lora",),
        group=Group.ADAPTER,
        value=comma_list("FNAME", Adapter),
        sets="adapters.lora",
        default="none",
        extends=True,
        help="LoRA files, separated by commas",
    ),
    Flag(
        names=("--lora-scaled",),
        group=Group.ADAPTER,
        value=comma_list("FNAME:SCALE,...", scaled),
        sets="adapters.lora",
        default="none",
        extends=True,
        help="the same, each with its strength",
    ),
    Flag(
        names=("--lora-init-without-apply",),
        group=Group.ADAPTER,
        sets="adapters.lora_apply",
        switched_on=False,
        default="off",
        help="load adapters with strength 0; POST /lora-adapters applies them",
    ),
    Flag(
        names=("--control-vector",),
        group=Group.ADAPTER,
        value=comma_list("FNAME", Adapter),
        sets="adapters.control_vectors",
        default="none",
        extends=True,
        help="control vector files, separated by commas",
    ),
    Flag(
        names=("--control-vector-scaled",),
        group=Group.ADAPTER,
        value=comma_list("FNAME:SCALE,...", scaled),
        sets="adapters.control_vectors",
        default="none",
        extends=True,
        help="the same, each with its strength",
    ),
    Flag(
        names=("--control-vector-layer-range",),
        group=Group.ADAPTER,
        value=Value("START END", layer_range, words=2),
        sets="adapters.control_vector_layers",
        default="all layers",
        help="first and last layer that the vectors are added to",
    ),
)
