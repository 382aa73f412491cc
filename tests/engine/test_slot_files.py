"""Slots saved, restored and erased, proven by content on a real model of each kind."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.exact import exact
from support.gguf_vocab import byte_tokens
from support.playing import greedy, play, running
from support.small_gguf import write_dense, write_hybrid, write_recurrent, write_sliding

from ferrox_gguf.engine.build import build_engine
from ferrox_gguf.errors import InvalidField
from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.llama.options import CacheType

TEXT = byte_tokens(
    "A slot that is written to a file and comes back from it must go on as if nothing had happened. " * 2
)
MORE = byte_tokens("And so it goes on.")
WRITERS = {"dense": write_dense, "sliding": write_sliding, "recurrent": write_recurrent, "hybrid": write_hybrid}


@pytest.fixture(scope="module", params=[*WRITERS, "dense, a cache a slot"])
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedModel]:
    kind, _, apart = request.param.partition(", ")
    path: Path = WRITERS[kind](tmp_path_factory.mktemp("files") / f"{kind}.gguf")
    model = LoadedModel.load(exact(path, n_parallel=2, n_ctx=2048 if apart else 1024, kv_unified=not apart))
    yield model
    model.close()


def test_a_slot_goes_on_from_its_file_in_another_slot(loaded: LoadedModel, tmp_path: Path) -> None:
    async def main() -> None:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded, cache_ram_mib=0)) as engine:
            first = await play(engine, greedy(TEXT, id_slot=0))
            going_on = [*TEXT, *first.tokens, *MORE]
            saved = await engine.save_slot(0, tmp_path / "slot.bin")
            assert saved.n_tokens == len(TEXT) + len(first.tokens) - 1
            assert saved.n_bytes == (tmp_path / "slot.bin").stat().st_size
            wanted = await play(engine, greedy(going_on, id_slot=0))
            assert await engine.erase_slot(0) > len(TEXT)
            assert engine.slots()[0].n_tokens == 0
            restored = await engine.restore_slot(1, tmp_path / "slot.bin")
            assert restored.n_tokens == saved.n_tokens
            got = await play(engine, greedy(going_on, id_slot=1))
            assert got.timings.cache_tokens == saved.n_tokens
            assert got.tokens == wanted.tokens
            for one, other in zip(got.logprobs, wanted.logprobs, strict=True):
                assert max(abs(one[token] - other[token]) for token in one) < 1e-3

    asyncio.run(main())


def test_saving_waits_until_the_slot_is_idle(loaded: LoadedModel, tmp_path: Path) -> None:
    async def main() -> None:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded)) as engine:
            answer = asyncio.ensure_future(play(engine, greedy(TEXT, id_slot=0, max_tokens=60, ignore_eos=True)))
            await asyncio.sleep(0)
            saved = await engine.save_slot(0, tmp_path / "slot.bin")
            assert (await answer).timings.predicted_tokens == 60
            assert saved.n_tokens == len(TEXT) + 59

    asyncio.run(main())


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"something else",
        lambda data: data[:200],
        lambda data: data[: len(data) // 2],
        lambda data: data[:8] + b"\xff\xff\xff\x7f" + data[12:],
        lambda data: data[:20] + b"\x01\0\0\0" + data[24:],
        lambda data: data[:20] + b"\xff\xff\xff\xff" + data[24:],
        lambda data: data[:24] + b"\xff\xff\xff\x7f" + data[28:],
        lambda data: data.replace(b'"lora": []', b'"lora": 77'),
    ],
)
def test_a_damaged_file_is_refused(loaded: LoadedModel, tmp_path: Path, damage: object) -> None:
    async def main() -> None:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded)) as engine:
            await play(engine, greedy(TEXT, id_slot=0))
            path = tmp_path / "slot.bin"
            await engine.save_slot(0, path)
            path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
            with pytest.raises(InvalidField):
                await engine.restore_slot(1, path)
            assert (await play(engine, greedy(TEXT, id_slot=1))).timings.cache_tokens == 0

    asyncio.run(main())


def test_llama_servers_own_files_are_read_and_ours_have_its_layout(loaded: LoadedModel, tmp_path: Path) -> None:
    """Its layout, old and new: a plain token list, or a packed one; nothing after the state."""

    async def main() -> None:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded)) as engine:
            await play(engine, greedy(TEXT, id_slot=0))
            path = tmp_path / "slot.bin"
            saved = await engine.save_slot(0, path)
            data = path.read_bytes()
            magic, version, n_words = struct.unpack_from("<III", data)
            assert (magic, version, n_words) == (0x67677371, 3, saved.n_tokens + 4)
            words = struct.unpack_from(f"<{n_words}i", data, 12)
            assert words[:3] == (-1, 1, saved.n_tokens)
            assert words[-1] == 0
            (size,) = struct.unpack_from("<I", data, len(data) - 12)
            state = data[12 + 4 * n_words : len(data) - 12 - size]
            packed = data[: 12 + 4 * n_words] + state
            plain = struct.pack(f"<III{saved.n_tokens}i", magic, version, saved.n_tokens, *words[3:-1]) + state
            for written in (packed, plain):
                path.write_bytes(written)
                assert (await engine.restore_slot(1, path)).n_tokens == saved.n_tokens

    asyncio.run(main())


def test_a_file_with_damaged_state_leaves_an_empty_slot(loaded: LoadedModel, tmp_path: Path) -> None:
    async def main() -> None:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded)) as engine:
            await play(engine, greedy(TEXT, id_slot=0))
            path = tmp_path / "slot.bin"
            await engine.save_slot(0, path)
            data = bytearray(path.read_bytes())
            state = 12 + 4 * (4 + engine.slots()[0].n_tokens)
            data[state : state + 40] = b"\xff" * 40
            path.write_bytes(bytes(data))
            with pytest.raises(InvalidField):
                await engine.restore_slot(1, path)
            assert (await play(engine, greedy(TEXT, id_slot=1))).timings.cache_tokens == 0

    asyncio.run(main())


def test_missing_files_and_slots_are_refused(loaded: LoadedModel, tmp_path: Path) -> None:
    async def main() -> None:
        async with running(build_engine(loaded)) as engine:
            with pytest.raises(InvalidField):
                await engine.restore_slot(0, tmp_path / "nothing")
            for slot in (-1, 2):
                with pytest.raises(InvalidField):
                    await engine.erase_slot(slot)

    asyncio.run(main())


def test_a_file_of_other_cells_is_refused(tmp_path: Path) -> None:
    path = write_dense(tmp_path / "dense.gguf")

    async def main() -> None:
        for kind in (CacheType.F32, CacheType.F16):
            model = LoadedModel.load(exact(path, cache_type_k=kind, cache_type_v=kind))
            async with running(build_engine(model)) as engine:
                if kind is CacheType.F32:
                    await play(engine, greedy(TEXT, id_slot=0))
                    await engine.save_slot(0, tmp_path / "slot.bin")
                else:
                    with pytest.raises(InvalidField, match="another model or context"):
                        await engine.restore_slot(0, tmp_path / "slot.bin")
            model.close()

    asyncio.run(main())
