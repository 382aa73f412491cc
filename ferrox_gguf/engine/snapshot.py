"""A slot as a file: its tokens, the adapter set they were read with, and llama.cpp's state of its cells.

The file names the model and the context that it belongs to, because llama.cpp reads states of other models, or of other
cache types, as long as the sizes happen to match. Paths are whole paths: keeping names inside a folder is `server/`'s.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.request import LoraScale

_MAGIC = b"ferrox slot 1\n"
_MAX_HEADER = 1 << 20


@dataclass(frozen=True, slots=True)
class SlotFile:
    """What happened to a file. n_tokens: tokens in it.  n_bytes: its size.  ms: time taken."""

    n_tokens: int
    n_bytes: int
    ms: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a file holds. belongs_to: the model and cache layout whose state this is."""

    belongs_to: str
    tokens: list[int]
    lora: tuple[LoraScale, ...]
    state: NDArray[np.uint8]


def write_snapshot(path: Path, snapshot: Snapshot) -> int:
    """Write it whole or not at all; its size in bytes. Raises OSError."""
    header = json.dumps(
        {
            "belongs_to": snapshot.belongs_to,
            "n_tokens": len(snapshot.tokens),
            "n_state": int(snapshot.state.nbytes),
            "lora": [[each.adapter, each.scale] for each in snapshot.lora],
        }
    ).encode()
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("wb") as file:
            file.write(_MAGIC + header + b"\n")
            file.write(np.asarray(snapshot.tokens, np.int32).tobytes())
            file.write(snapshot.state.data)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return path.stat().st_size


def read_snapshot(path: Path, belongs_to: str) -> tuple[Snapshot, int]:
    """Read it back; also its size. Raises InvalidField when it is missing, damaged, or another model's."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidField("filename", f"cannot be read: {error.strerror}") from None
    end = data.find(b"\n", len(_MAGIC), _MAX_HEADER)
    if not data.startswith(_MAGIC) or end < 0:
        raise InvalidField("filename", "is not a slot file of this server")
    try:
        header = json.loads(data[len(_MAGIC) : end])
        n_tokens, n_state = int(header["n_tokens"]), int(header["n_state"])
        lora = tuple(LoraScale(int(adapter), float(scale)) for adapter, scale in header["lora"])
        owner = str(header["belongs_to"])
    except (ValueError, KeyError, TypeError):
        raise InvalidField("filename", "has a damaged header") from None
    if owner != belongs_to:
        raise InvalidField("filename", f"belongs to another model or context: {owner}, here {belongs_to}")
    body = memoryview(data)[end + 1 :]
    if n_tokens < 0 or n_state < 0 or len(body) != 4 * n_tokens + n_state:
        raise InvalidField("filename", "is cut short or has grown")
    tokens = np.frombuffer(body[: 4 * n_tokens], np.int32)
    state = np.frombuffer(body[4 * n_tokens :], np.uint8)
    return Snapshot(owner, [int(token) for token in tokens], lora, state), len(data)
