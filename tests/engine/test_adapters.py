"""LoRA on a real model: each request gets its own set, and cells of one set never serve another."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.exact import exact
from support.gguf_vocab import byte_tokens
from support.lora_gguf import write_lora
from support.playing import Said, greedy, play, play_all, running
from support.small_gguf import write_dense

from ferrox_gguf.engine.build import build_engine
from ferrox_gguf.errors import GgufError
from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.llama.options import LoraFile
from ferrox_gguf.request import LoraScale

TEXT = byte_tokens("An adapter changes what the model says, and only for those who asked for it. " * 2)
STRONG, WEAK = (LoraScale(0, 1.0),), (LoraScale(0, 0.25),)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedModel]:
    folder: Path = tmp_path_factory.mktemp("lora")
    adapter = write_lora(folder / "lora.gguf")
    idle = write_lora(folder / "idle.gguf", strength=0.0)
    path = write_dense(folder / "dense.gguf")
    model = LoadedModel.load(exact(path, lora=(LoraFile(str(adapter)), LoraFile(str(idle)))))
    yield model
    model.close()


def alone(loaded: LoadedModel, lora: tuple[LoraScale, ...]) -> Said:
    async def main() -> Said:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded, cache_ram_mib=0)) as engine:
            return await play(engine, greedy(TEXT, lora=lora))

    return asyncio.run(main())


def far(one: Said, other: Said) -> float:
    return max(abs(one.logprobs[0][token] - other.logprobs[0][token]) for token in one.logprobs[0])


def test_scales_change_the_answer_and_an_idle_adapter_does_not(loaded: LoadedModel) -> None:
    plain, strong, weak = alone(loaded, ()), alone(loaded, STRONG), alone(loaded, WEAK)
    assert far(plain, strong) > 0.1
    assert far(strong, weak) > 0.1
    assert far(plain, alone(loaded, (LoraScale(1, 1.0),))) < 1e-3
    assert far(plain, alone(loaded, (LoraScale(0, 0.0),))) < 1e-3


def test_requests_with_different_adapters_side_by_side_say_what_they_say_alone(loaded: LoadedModel) -> None:
    sets = [(), STRONG, WEAK, ()]

    async def main() -> list[Said]:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded)) as engine:
            return await play_all(engine, [greedy(TEXT, lora=lora) for lora in sets])

    for lora, said in zip(sets, asyncio.run(main()), strict=True):
        assert far(said, alone(loaded, lora)) < 1e-3


def test_the_same_prompt_with_another_set_is_read_again(loaded: LoadedModel) -> None:
    async def main() -> None:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded)) as engine:
            await play(engine, greedy(TEXT))
            assert (await play(engine, greedy(TEXT, lora=STRONG))).timings.cache_tokens == 0
            assert (await play(engine, greedy(TEXT, lora=WEAK))).timings.cache_tokens == 0
            assert (await play(engine, greedy(TEXT, lora=STRONG))).timings.cache_tokens == len(TEXT) - 1
            assert (await play(engine, greedy(TEXT))).timings.cache_tokens == len(TEXT) - 1

    asyncio.run(main())


def test_a_file_that_is_no_adapter_is_refused_in_one_line(tmp_path: Path) -> None:
    path = write_dense(tmp_path / "dense.gguf")
    with pytest.raises(GgufError, match=r"dense\.gguf") as raised:
        LoadedModel.load(exact(path, lora=(LoraFile(str(path)),)))
    assert "\n" not in str(raised.value)
