"""Every way in which a file can be broken is one GgufError that names it, and never another exception."""

from __future__ import annotations

import contextlib
import os
import struct
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFEndian, GGUFWriter, TokenType
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ferrox_gguf.errors import GgufError
from ferrox_gguf.gguf import read_facts

UINT32, STRING, ARRAY, BOOL = 4, 8, 9, 7


def string(text: bytes | str) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(data)) + data


def pair(key: str, kind: int, value: bytes) -> bytes:
    return string(key) + struct.pack("<I", kind) + value


ARCHITECTURE = pair("general.architecture", STRING, string("llama"))


def tensor(name: str = "t", shape: tuple[int, ...] = (32,), kind: int = 0, offset: int = 0) -> bytes:
    return (
        string(name)
        + struct.pack("<I", len(shape))
        + b"".join(struct.pack("<Q", size) for size in shape)
        + struct.pack("<IQ", kind, offset)
    )


def file(*pairs: bytes, tensors: tuple[bytes, ...] = (), data: bytes = b"") -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pairs) + b"".join(tensors)
    return head + b"\0" * (-len(head) % 32) + data


def reason(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(GgufError) as caught:
        read_facts(str(path))
    assert caught.value.path == str(path)
    assert "\n" not in str(caught.value)
    return caught.value.args[0].removeprefix(f"{path}: ")


BROKEN = {
    "an empty file": (b"", "the file is empty"),
    "another magic": (b"GGML" + bytes(40), "is not a GGUF file: it begins with b'GGML'"),
    "a Git LFS pointer": (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
    "a web page": (b"<!DOCTYPE html><html>", "web page"),
    "safetensors": (struct.pack("<Q", 90) + b'{"a":1}', "safetensors"),
    "a magic and no more": (b"GGUF", "the version at byte 4 needs 4 bytes, 0 are left"),
    "an old version": (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "GGUF version 1"),
    "a version of the future": (b"GGUF" + struct.pack("<IQQ", 4, 0, 0), "GGUF version 4"),
    "big endian": (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "big-endian"),
    "absurdly many tensors": (b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 0), f"claims {1 << 60} tensors"),
    "absurdly many entries": (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), f"claims {1 << 60} metadata entries"),
    "no architecture": (file(pair("general.name", STRING, string("x"))), "has no general.architecture"),
    "an architecture of the wrong type": (
        file(pair("general.architecture", UINT32, bytes(4))),
        "general.architecture is not a string",
    ),
    "a length without end": (
        file(pair("general.architecture", STRING, struct.pack("<Q", (1 << 64) - 1) + b"x")),
        "general.architecture at byte",
    ),
    "an unknown value type": (file(pair("k", 77, bytes(8))), "k has the unknown type 77"),
    "an array that claims too much": (
        file(pair("k", ARRAY, struct.pack("<IQ", UINT32, 1 << 50))),
        f"claims {1 << 50} elements in k",
    ),
    "an array of arrays": (file(pair("k", ARRAY, struct.pack("<IQ", ARRAY, 1) + bytes(16))), "array of the nested"),
    "strings that claim too much": (
        file(ARCHITECTURE, pair("k", ARRAY, struct.pack("<IQ", STRING, 2) + string("a") + struct.pack("<Q", 1 << 63))),
        "ends within k",
    ),
    "a key twice": (file(ARCHITECTURE, ARCHITECTURE), "has general.architecture twice"),
    "a template that is a number": (
        file(ARCHITECTURE, pair("tokenizer.chat_template", UINT32, bytes(4))),
        "tokenizer.chat_template is not a string",
    ),
    "a flag that is a string": (
        file(ARCHITECTURE, pair("tokenizer.ggml.add_bos_token", STRING, string("yes"))),
        "add_bos_token is not a boolean",
    ),
    "an id that is a flag": (
        file(ARCHITECTURE, pair("tokenizer.ggml.eos_token_id", BOOL, b"\1")),
        "eos_token_id is not an integer",
    ),
    "tokens that are numbers": (
        file(ARCHITECTURE, pair("tokenizer.ggml.tokens", ARRAY, struct.pack("<IQI", UINT32, 1, 7))),
        "tokens is not an array of strings",
    ),
    "fewer token types than tokens": (
        file(
            ARCHITECTURE,
            pair("tokenizer.ggml.tokens", ARRAY, struct.pack("<IQ", STRING, 2) + string("a") + string("b")),
            pair("tokenizer.ggml.token_type", ARRAY, struct.pack("<IQi", 5, 1, 3)),
        ),
        "has 2 entries, tokenizer.ggml.token_type 1",
    ),
    "an odd alignment": (
        file(ARCHITECTURE, pair("general.alignment", UINT32, struct.pack("<I", 24))),
        "general.alignment is 24, not a power of two",
    ),
    "a tensor of five dimensions": (
        file(ARCHITECTURE, tensors=(tensor(shape=(1, 1, 1, 1, 1)),)),
        "tensor t claims 5 dimensions",
    ),
    "a tensor of absurd shape": (
        file(ARCHITECTURE, tensors=(tensor(shape=(1 << 40, 1 << 40)),)),
        "tensor t claims the shape",
    ),
    "a tensor twice": (
        file(ARCHITECTURE, tensors=(tensor(), tensor()), data=bytes(128)),
        "two tensors named t",
    ),
    "an unaligned tensor": (file(ARCHITECTURE, tensors=(tensor(offset=8),), data=bytes(256)), "not aligned to 32"),
    "missing weights": (
        file(ARCHITECTURE, tensors=(tensor(),), data=bytes(100)),
        "28 bytes of tensor data are missing",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_by_a_sentence_that_names_the_fault(name: str, tmp_path: Path) -> None:
    content, words = BROKEN[name]
    assert words in reason(tmp_path / "broken.gguf", content)


def test_a_path_that_is_no_readable_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GgufError, match="no such file"):
        read_facts(str(tmp_path / "absent.gguf"))
    with pytest.raises(GgufError, match="is a directory"):
        read_facts(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(GgufError, match="not a regular file"):
        read_facts(str(tmp_path / "pipe"))
    with pytest.raises(GgufError, match="cannot be read"):
        read_facts("a\0b")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "whole.gguf"
    made = GGUFWriter(str(path), "llama")
    made.add_name("whole")
    made.add_chat_template("{{ messages }}")
    made.add_token_list(["<s>", "</s>", "a"])
    made.add_token_types([TokenType.CONTROL, TokenType.CONTROL, TokenType.NORMAL])
    made.add_eos_token_id(1)
    made.add_float32("general.weight", 0.5)
    made.add_tensor("t", np.ones((2, 32), np.float32))
    made.write_header_to_file()
    made.write_kv_data_to_file()
    made.write_tensors_to_file()
    made.close()
    return path.read_bytes()


def test_a_file_cut_at_any_byte_is_refused(whole: bytes, tmp_path: Path) -> None:
    for length in range(len(whole)):
        assert reason(tmp_path / "cut.gguf", whole[:length])


def test_big_endian_files_of_the_reference_writer_are_named(tmp_path: Path) -> None:
    path = tmp_path / "big.gguf"
    made = GGUFWriter(str(path), "llama", endianess=GGUFEndian.BIG)
    made.write_header_to_file()
    made.write_kv_data_to_file()
    made.close()
    with pytest.raises(GgufError, match="big-endian"):
        read_facts(str(path))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=400, deadline=None)
@given(st.data())
def test_arbitrary_damage_is_read_or_refused_but_never_crashes(
    whole: bytes, tmp_path: Path, data: st.DataObject
) -> None:
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        new = data.draw(st.binary(min_size=1, max_size=9))
        damaged[at : at + len(new)] = new
    path = tmp_path / "damaged.gguf"
    path.write_bytes(damaged)
    with contextlib.suppress(GgufError):
        assert read_facts(str(path)).architecture


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=200))
def test_arbitrary_bytes_behind_the_magic_are_refused(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "noise.gguf"
    path.write_bytes(b"GGUF\x03\0\0\0" + tail)
    with pytest.raises(GgufError):
        read_facts(str(path))
