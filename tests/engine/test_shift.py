"""Moved cells: context shift and chunk reuse, exact on a model of one layer, where no cell depends on those before."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.exact import exact
from support.gguf_vocab import byte_tokens
from support.playing import Said, greedy, play, play_all, running
from support.small_gguf import write_dense

from ferrox_gguf.engine.build import build_engine
from ferrox_gguf.llama.loaded import LoadedModel

TEXT = byte_tokens(
    "Some text that is long enough to be moved about, with words that come back and words that do not. " * 3
)


@pytest.fixture(scope="module", params=[True, False], ids=["one cache", "a cache a slot"])
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedModel]:
    path: Path = write_dense(tmp_path_factory.mktemp("shift") / "one-layer.gguf", layers=1)
    model = LoadedModel.load(exact(path, n_ctx=512, n_parallel=2, n_ctx_per_slot=256, kv_unified=request.param))
    yield model
    model.close()


def run(loaded: LoadedModel, *requests: dict[str, object], context_shift: bool = False) -> list[Said]:
    async def main() -> list[Said]:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded, context_shift=context_shift, cache_ram_mib=0)) as engine:
            return [await play(engine, greedy(**request)) for request in requests]  # type: ignore[arg-type]

    return asyncio.run(main())


def far(one: Said, other: Said) -> float:
    pairs = zip(one.logprobs, other.logprobs, strict=True)
    return max(abs(of[token] - other_of[token]) for of, other_of in pairs for token in of)


def test_after_a_context_shift_the_answer_goes_on_as_if_the_rest_had_been_the_prompt(loaded: LoadedModel) -> None:
    prompt, keep = TEXT[:240], 10
    (said,) = run(loaded, {"tokens": prompt, "max_tokens": 40, "n_keep": keep, "ignore_eos": True}, context_shift=True)
    full = [*prompt, *said.tokens[: 256 - len(prompt)]]
    discarded = (len(full) - 1 - keep) // 2
    rest = [*full[:keep], *full[keep + discarded :]]
    after = Said(said.tokens[16:], said.logprobs[16:], said.timings, said.slot)
    (wanted,) = run(loaded, {"tokens": rest, "max_tokens": 24, "ignore_eos": True})
    assert after.tokens == wanted.tokens
    assert far(after, wanted) < 1e-3
    (wrong,) = run(loaded, {"tokens": [*full[:keep], *full[keep + discarded + 1 :]], "max_tokens": 24})
    assert wrong.tokens != wanted.tokens or far(wrong, wanted) > 1e-3


def test_two_answers_that_share_their_beginning_shift_apart(loaded: LoadedModel) -> None:
    async def main() -> list[Said]:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded, context_shift=True)) as engine:
            requests = [
                greedy([*TEXT[:200], *byte_tokens(word)], max_tokens=120, n_keep=20, ignore_eos=True)
                for word in ("one", "two")
            ]
            return await play_all(engine, requests)

    together = asyncio.run(main())
    for said, word in zip(together, ("one", "two"), strict=True):
        (alone,) = run(
            loaded,
            {
                "tokens": [*TEXT[:200], *byte_tokens(word)],
                "max_tokens": 120,
                "n_keep": 20,
                "ignore_eos": True,
            },
            context_shift=True,
        )
        assert said.tokens == alone.tokens
        assert far(said, alone) < 1e-3


def test_chunks_moved_into_place_answer_like_a_fresh_reading(loaded: LoadedModel) -> None:
    left_out = [*TEXT[:40], *TEXT[90:200]]
    first, moved = run(
        loaded,
        {"tokens": TEXT[:200], "id_slot": 0},
        {"tokens": left_out, "id_slot": 0, "n_cache_reuse": 32},
    )
    (fresh,) = run(loaded, {"tokens": left_out})
    assert moved.timings.cache_tokens == len(left_out) - 1
    assert moved.tokens == fresh.tokens
    assert far(moved, fresh) < 1e-3
    assert first.tokens != fresh.tokens or far(first, fresh) > 1e-3
