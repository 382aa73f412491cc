"""Two hundred requests from sixteen clients, random lengths, random cancels, on a real model and a small cache."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.exact import exact
from support.gguf_vocab import byte_tokens
from support.playing import Said, greedy, play, running
from support.small_gguf import write_dense, write_hybrid, write_recurrent, write_sliding

from ferrox_gguf.engine.build import build_engine
from ferrox_gguf.engine.contract import EngineEvent, SequenceRequest
from ferrox_gguf.engine.loop import EngineLoop
from ferrox_gguf.llama.loaded import LoadedModel

REQUESTS, CLIENTS, CELLS = 200, 16, 512
WRITERS = {"dense": write_dense, "sliding": write_sliding, "recurrent": write_recurrent, "hybrid": write_hybrid}


@pytest.fixture(scope="module", params=[*WRITERS, "dense, a cache a slot"])
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedModel]:
    kind, _, apart = request.param.partition(", ")
    path: Path = WRITERS[kind](tmp_path_factory.mktemp("stress") / f"{kind}.gguf")
    n_ctx = 4 * CELLS if apart else CELLS
    model = LoadedModel.load(exact(path, n_ctx=n_ctx, kv_unified=not apart, n_parallel=4, n_threads=2))
    yield model
    model.close()


def prompts(chance: random.Random) -> list[SequenceRequest]:
    """Few beginnings, so that much is shared; all lengths, so that the cache overflows."""
    beginnings = [byte_tokens(f"Beginning number {at}. " * (2 + 3 * at)) for at in range(4)]
    return [
        greedy(
            [*chance.choice(beginnings), *byte_tokens(f"Question {chance.randrange(30)}?")],
            max_tokens=chance.randrange(1, 40),
            n_probs=0,
        )
        for _ in range(REQUESTS)
    ]


async def cancelled(engine: EngineLoop, request: SequenceRequest, after: float) -> None:
    events: list[EngineEvent] = []
    handle = engine.submit(request, events.append)
    await asyncio.sleep(after)
    engine.cancel(handle)


@pytest.mark.timeout(300)
def test_a_crowd_leaves_every_slot_free_no_cell_lost_and_each_answer_its_own(loaded: LoadedModel) -> None:
    chance = random.Random(11)
    requests = prompts(chance)
    leaves = {at: chance.random() * 0.05 for at in chance.sample(range(REQUESTS), REQUESTS // 5)}
    queue = list(enumerate(requests))
    answers: dict[int, Said] = {}

    async def client(engine: EngineLoop) -> None:
        while queue:
            at, request = queue.pop()
            if at in leaves:
                await cancelled(engine, request, leaves[at])
            else:
                answers[at] = await play(engine, request)

    async def crowd() -> None:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded, cache_ram_mib=1, checkpoint_step=64)) as engine:
            await asyncio.gather(*[client(engine) for _ in range(CLIENTS)])
            await engine.call(lambda: None)
            assert not any(slot.is_processing for slot in engine.slots())
            stats = engine.stats()
            assert stats.queued == 0
            assert stats.failed == 0
            assert stats.submitted == REQUESTS
            assert stats.finished + stats.cancelled == REQUESTS
            assert stats.shared_tokens + stats.restored_tokens > 0
            for slot in range(4):
                await engine.erase_slot(slot)
            assert engine.stats().cells_used == 0
            whole = await play(engine, greedy((byte_tokens("x y ") * CELLS)[: CELLS - 1], max_tokens=-1))
            assert whole.timings.prompt_tokens == CELLS - 1

    asyncio.run(crowd())

    async def one_by_one() -> None:
        loaded.context.memory.clear_all()
        async with running(build_engine(loaded, cache_ram_mib=0, checkpoints=0)) as engine:
            for at in sorted(answers)[::4]:
                wanted = await play(engine, greedy(requests[at].tokens, max_tokens=requests[at].max_tokens, id_slot=0))
                assert answers[at].tokens == wanted.tokens

    asyncio.run(one_by_one())
