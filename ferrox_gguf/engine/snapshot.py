"""A slot as a file: its tokens and llama.cpp's state of its cells, in the layout that llama-server's slot files have.

So files go both ways. At the end, where llama-server does not look, stand the model, the cache types and the adapters
that the state belongs to: llama.cpp reads states of other models as long as the sizes happen to match. A file without
that (llama-server wrote it) is taken at its word.

Layout, little-endian: magic, version, number of words, words (int32), state, our JSON, its length, our magic. The words
are a token list, or (today) a marker -1, a version 1, the number of tokens, the tokens, the number of media (0 here).
Paths are whole paths: keeping names inside a folder is `server/`'s.
"""

from __future__ import annotations

import json
import os
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.request import LoraScale

_HEAD = struct.Struct("<III")
_MAGIC, _VERSION = 0x67677371, 3
"""LLAMA_STATE_SEQ_MAGIC and LLAMA_STATE_SEQ_VERSION of the pinned llama.cpp."""
_PACKED, _PACKED_VERSION = -1, 1
_TAIL = struct.Struct("<I8s")
_TAIL_MAGIC = b"FERROX01"


@dataclass(frozen=True, slots=True)
class SlotFile:
    """What happened to a file. n_tokens: tokens in it.  n_bytes: its size.  ms: time taken."""

    n_tokens: int
    n_bytes: int
    ms: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a file holds. belongs_to: the model and cache layout whose state this is; "" when the file does not say."""

    belongs_to: str
    tokens: list[int]
    lora: tuple[LoraScale, ...]
    state: NDArray[np.uint8]


def write_snapshot(path: Path, snapshot: Snapshot) -> int:
    """Write it whole or not at all; its size in bytes. Raises OSError."""
    words = np.asarray([_PACKED, _PACKED_VERSION, len(snapshot.tokens), *snapshot.tokens, 0], "<i4")
    lora = [[each.adapter, each.scale] for each in snapshot.lora]
    about = json.dumps({"belongs_to": snapshot.belongs_to, "lora": lora}).encode()
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("wb") as file:
            file.write(_HEAD.pack(_MAGIC, _VERSION, words.size))
            file.write(words.tobytes())
            file.write(snapshot.state.data)
            file.write(about)
            file.write(_TAIL.pack(len(about), _TAIL_MAGIC))
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
    if len(data) < _HEAD.size:
        raise InvalidField("filename", "is not a slot file")
    magic, version, n_words = _HEAD.unpack_from(data)
    if (magic, version) != (_MAGIC, _VERSION):
        raise InvalidField("filename", "is not a slot file, or of another version")
    if n_words > (len(data) - _HEAD.size) // 4:
        raise InvalidField("filename", "is cut short")
    words = np.frombuffer(data, "<i4", n_words, _HEAD.size)
    owner, lora, end = _about(data)
    if owner and owner != belongs_to:
        raise InvalidField("filename", f"belongs to another model or context: {owner}, here {belongs_to}")
    state = np.frombuffer(data, np.uint8)[_HEAD.size + 4 * n_words : end]
    return Snapshot(owner, _tokens(words), lora, state), len(data)


def _tokens(words: NDArray[np.int32]) -> list[int]:
    """The token list in the words of a file, packed or plain."""
    if words.size == 0 or int(words[0]) != _PACKED:
        return [int(word) for word in words]
    if words.size < 4 or int(words[1]) != _PACKED_VERSION:
        raise InvalidField("filename", "has a token list of another version")
    count = int(words[2])
    if not 0 <= count <= words.size - 4:
        raise InvalidField("filename", "has a damaged token list")
    if int(words[3 + count]) != 0:
        raise InvalidField("filename", "holds images or audio, which this server cannot restore")
    return [int(word) for word in words[3 : 3 + count]]


def _about(data: bytes) -> tuple[str, tuple[LoraScale, ...], int]:
    """(model, adapter set, where the state ends) from the end of a file; nothing is said in llama-server's."""
    if len(data) < _HEAD.size + _TAIL.size:
        return "", (), len(data)
    size, magic = _TAIL.unpack_from(data, len(data) - _TAIL.size)
    end = len(data) - _TAIL.size - size
    if magic != _TAIL_MAGIC or end < _HEAD.size:
        return "", (), len(data)
    try:
        about = json.loads(data[end : end + size])
        lora = tuple(LoraScale(int(adapter), float(scale)) for adapter, scale in about["lora"])
        return str(about["belongs_to"]), lora, end
    except (ValueError, KeyError, TypeError):
        raise InvalidField("filename", "has a damaged end") from None
