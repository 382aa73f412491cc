"""What a file that is no GGUF seems to be, from its first bytes, so that the message says what to do."""

from __future__ import annotations

_BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (b"version https://git-lfs", "it is a Git LFS pointer (run `git lfs pull`)"),
    (b"<!DOCTYPE", "it is a web page (the download went wrong)"),
    (b"<!doctype", "it is a web page (the download went wrong)"),
    (b"<html", "it is a web page (the download went wrong)"),
    (b"PK\x03\x04", "it is a zip archive, perhaps a PyTorch checkpoint (convert it first)"),
    (b"\x1f\x8b", "it is gzip-compressed (unpack it first)"),
    (b"FUGG", "its magic is byte-swapped"),
    (b"lmgg", "it is the old ggml format (convert it again)"),
    (b"fmgg", "it is the old ggmf format (convert it again)"),
    (b"tjgg", "it is the old ggjt format (convert it again)"),
    (b"algg", "it is an old LoRA adapter (convert it again)"),
)


def what_it_is(start: bytes) -> str:
    """A clause about the file. start: its first 64 bytes or fewer."""
    for beginning, words in _BEGINNINGS:
        if start.startswith(beginning):
            return words
    # safetensors: the length of a JSON header, then the header.
    if len(start) >= 9 and start[8:9] == b"{":
        return "it looks like safetensors (convert it first)"
    return f"it begins with {start[:4]!r}, not b'GGUF'"
