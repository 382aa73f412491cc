"""The engine thread end to end: over a scripted executor for its promises, over a real small model for its draws."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.exact import exact
from support.gguf_vocab import byte_tokens
from support.scripted_executor import ScriptedExecutor, counting
from support.small_gguf import write_dense
from support.stepping import request

from ferrox_gguf.engine import pace
from ferrox_gguf.engine.build import build_engine
from ferrox_gguf.engine.contract import Ended, EngineEvent, Failed, SequenceRequest, Tokens
from ferrox_gguf.engine.executor import Executor
from ferrox_gguf.engine.layout import Layout
from ferrox_gguf.engine.loop import EngineLoop
from ferrox_gguf.engine.plan import BatchPlan, Outcome
from ferrox_gguf.errors import InvalidField, PromptTooLong, Unavailable
from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.request import LoraScale, Sampling


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedModel]:
    path = write_dense(tmp_path_factory.mktemp("loop") / "dense.gguf")
    loaded = LoadedModel.load(exact(Path(path)))
    yield loaded
    loaded.close()


@asynccontextmanager
async def running(engine: EngineLoop) -> AsyncIterator[EngineLoop]:
    engine.start()
    try:
        yield engine
    finally:
        engine.stop()
        assert await engine.wait_stopped(10)


def scripted(executor: Executor | None = None, queue_size: int = 100) -> EngineLoop:
    layout = Layout(n_slots=4, n_cells=4096, slot_context=512, end_tokens=frozenset({2}))
    return EngineLoop(executor or ScriptedExecutor(), layout, n_vocab=5000, n_adapters=1, queue_size=queue_size)


async def collect(engine: EngineLoop, asked: SequenceRequest) -> list[EngineEvent]:
    events: list[EngineEvent] = []
    done = asyncio.Event()

    def sink(event: EngineEvent) -> None:
        events.append(event)
        if isinstance(event, (Ended, Failed)):
            done.set()

    engine.submit(asked, sink)
    await asyncio.wait_for(done.wait(), 20)
    return events


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come to pass")


def said(events: list[EngineEvent]) -> list[int]:
    return [s.token for event in events if isinstance(event, Tokens) for s in event.sampled]


def test_events_arrive_on_the_event_loop_and_end_with_exactly_one_end() -> None:
    async def main() -> None:
        threads = set()
        async with running(scripted()) as engine:
            done = asyncio.Event()
            events: list[EngineEvent] = []

            def sink(event: EngineEvent) -> None:
                threads.add(threading.current_thread())
                events.append(event)
                if isinstance(event, Ended):
                    done.set()

            engine.submit(request(range(10, 20), max_tokens=5), sink)
            await asyncio.wait_for(done.wait(), 10)
            await asyncio.sleep(0.05)
        assert threads == {threading.current_thread()}
        assert [type(event) for event in events].count(Ended) == 1
        assert isinstance(events[-1], Ended)
        assert said(events) == [counting(request(range(10, 20)), at) for at in range(5)]

    asyncio.run(main())


def test_after_cancel_no_event_follows_and_the_slot_is_free() -> None:
    async def main() -> None:
        async with running(scripted(Slow(0.002))) as engine:
            events: list[EngineEvent] = []
            handle = engine.submit(request(range(10, 20)), events.append)
            await until(lambda: bool(events))
            engine.cancel(handle)
            engine.cancel(handle)
            count = len(events)
            await engine.call(lambda: None)
            await asyncio.sleep(0.02)
            assert len(events) == count
            assert not any(slot.is_processing for slot in engine.slots())
            assert engine.stats().cancelled == 1

    asyncio.run(main())


class Slow:
    """A scripted executor whose steps take real time."""

    def __init__(self, seconds: float) -> None:
        self.inner, self.seconds = ScriptedExecutor(), seconds
        self.open, self.close, self.first_position = self.inner.open, self.inner.close, self.inner.first_position
        self.finish = self.inner.finish

    def execute(self, plan: BatchPlan) -> Outcome:
        time.sleep(self.seconds)
        return self.inner.execute(plan)


class Watched(ScriptedExecutor):
    """Keeps how many prompts each step read."""

    def __init__(self, step_ms: float = 1.0) -> None:
        super().__init__(step_ms=step_ms)
        self.read: list[int] = []

    def execute(self, plan: BatchPlan) -> Outcome:
        self.read.append(sum(row.start == 0 for row in plan.rows))
        return super().execute(plan)


def test_requests_of_one_instant_are_read_in_one_step() -> None:
    """Each in a task of its own, as a server has them; the engine would begin with the first alone."""

    async def main() -> None:
        executor = Watched()
        async with running(scripted(executor)) as engine:
            await asyncio.gather(*[collect(engine, request([at + 5, 7], max_tokens=3)) for at in range(4)])
        assert executor.read[0] == 4

    asyncio.run(main())


def test_an_idle_engine_that_reads_slowly_waits_a_moment_for_those_who_come_with_a_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pace, "_PATIENCE", 10.0)
    monkeypatch.setattr(pace, "_MOST_PATIENCE_MS", 500.0)

    async def main() -> None:
        executor = Watched(step_ms=1000.0)
        async with running(scripted(executor)) as engine:
            await collect(engine, request(range(10, 40), max_tokens=1))
            known = len(executor.read)
            asked = []
            for at in range(3):
                asked.append(asyncio.create_task(collect(engine, request([at + 50, 7], max_tokens=3))))
                await asyncio.sleep(0.01)
            assert len(executor.read) == known, "it waits"
            await asyncio.gather(*asked)
        assert executor.read[known] == 3

    asyncio.run(main())


def test_a_request_of_the_instant_in_which_the_engine_is_stopped_is_told_so() -> None:
    async def main() -> None:
        events: list[EngineEvent] = []
        engine = scripted(Slow(0.02))
        async with running(engine):
            engine.submit(request([5], max_tokens=100), events.append)
            engine.stop()
        await asyncio.sleep(0.01)
        (failed,) = [event for event in events if isinstance(event, Failed)]
        assert isinstance(failed.error, Unavailable)

    asyncio.run(main())


def test_a_request_that_is_cancelled_in_the_instant_it_came_never_runs() -> None:
    async def main() -> None:
        executor, events = Watched(), []
        async with running(scripted(executor)) as engine:
            engine.cancel(engine.submit(request([5], max_tokens=100), events.append))
            assert said(await collect(engine, request([6], max_tokens=1)))
        assert events == []
        assert sum(executor.read) == 1

    asyncio.run(main())


def test_the_queue_is_bounded_and_a_finished_request_makes_room() -> None:
    async def main() -> None:
        async with running(scripted(Slow(0.001), queue_size=1)) as engine:
            for _ in range(5):
                engine.submit(request([5], max_tokens=3), lambda event: None)
            with pytest.raises(Unavailable):
                engine.submit(request([5]), lambda event: None)
            await until(lambda: engine.stats().finished == 5)
            await asyncio.sleep(0.02)
            assert said(await collect(engine, request([5], max_tokens=1)))

    asyncio.run(main())


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (request(range(512)), PromptTooLong),
        (request([]), InvalidField),
        (request([5000]), InvalidField),
        (request([-1]), InvalidField),
        (request([1], id_slot=4), InvalidField),
        (request([1], lora=(LoraScale(1, 1.0),)), InvalidField),
    ],
)
def test_what_can_never_run_is_refused_before_it_is_queued(asked: SequenceRequest, error: type[Exception]) -> None:
    async def main() -> None:
        async with running(scripted()) as engine:
            with pytest.raises(error):
                engine.submit(asked, lambda event: None)
            assert engine.stats().queued == 0

    asyncio.run(main())


def test_a_sink_that_raises_harms_no_other(caplog: pytest.LogCaptureFixture) -> None:
    def bad(event: EngineEvent) -> None:
        raise RuntimeError("bad sink")

    async def main() -> None:
        async with running(scripted()) as engine:
            engine.submit(request(range(10, 20), max_tokens=3), bad)
            assert len(said(await collect(engine, request(range(50, 60), max_tokens=3)))) == 3

    asyncio.run(main())
    assert "a sink failed" in caplog.text


def test_after_a_fault_of_our_own_the_next_request_starts_afresh(caplog: pytest.LogCaptureFixture) -> None:
    class BreaksOnce(ScriptedExecutor):
        broken = False

        def execute(self, plan: BatchPlan) -> Outcome:
            if plan.decoding and not self.broken:
                self.broken = True
                raise MemoryError("once")
            return super().execute(plan)

    async def main() -> None:
        async with running(scripted(BreaksOnce())) as engine:
            assert isinstance((await collect(engine, request(range(10, 60))))[-1], Failed)
            again = request(range(10, 60), max_tokens=3)
            events = await collect(engine, again)
            assert said(events) == [counting(again, at) for at in range(3)]
            assert isinstance(events[-1], Ended)
            assert events[-1].timings.cache_tokens == 0

    asyncio.run(main())


def test_an_engine_that_breaks_for_good_tells_every_client_and_stops() -> None:
    class Broken(ScriptedExecutor):
        def execute(self, plan: BatchPlan) -> Outcome:
            raise MemoryError("broken")

    async def main() -> None:
        engine = scripted(Broken())
        engine.start()
        for _ in range(3):
            assert isinstance((await collect(engine, request([5])))[-1], Failed)
        assert await engine.wait_stopped(5)
        with pytest.raises(Unavailable):
            engine.submit(request([5]), lambda event: None)

    asyncio.run(main())


def test_stopping_ends_running_sequences_with_unavailable() -> None:
    async def main() -> None:
        engine = scripted(Slow(0.001))
        engine.start()
        events: list[EngineEvent] = []
        engine.submit(request([5]), events.append)
        await asyncio.sleep(0.02)
        engine.stop()
        assert await engine.wait_stopped(5)
        await asyncio.sleep(0.02)
        assert isinstance(events[-1], Failed)
        assert isinstance(events[-1].error, Unavailable)

    asyncio.run(main())


def test_an_idle_slot_shows_the_request_that_it_ran_last() -> None:
    async def main() -> None:
        async with running(scripted()) as engine:
            assert all(slot.request is None for slot in engine.slots())
            asked = request(range(10, 20), max_tokens=3)
            await collect(engine, asked)
            (used,) = [slot for slot in engine.slots() if slot.request is not None]
            assert used.request == asked
            assert not used.is_processing
            assert (used.n_prompt, used.n_read, used.n_decoded, used.n_remaining) == (10, 10, 3, 0)
            assert used.n_tokens == 12

    asyncio.run(main())


def test_a_call_runs_on_the_engine_thread_between_steps() -> None:
    async def main() -> None:
        async with running(scripted()) as engine:
            assert await engine.call(lambda: threading.current_thread().name) == "engine"

            def fails() -> None:
                raise InvalidField("x", "y")

            with pytest.raises(InvalidField):
                await engine.call(fails)

    asyncio.run(main())


# With a real model


def greedy(text: str, **changes: object) -> SequenceRequest:
    options: dict[str, object] = {"max_tokens": 12, **changes}
    sampling = options.pop("sampling", Sampling(temperature=0.0, seed=1))
    return SequenceRequest(tuple(byte_tokens(text)), sampling, **options)  # type: ignore[arg-type]


def run(dense: LoadedModel, *asked: SequenceRequest) -> list[list[EngineEvent]]:
    async def main() -> list[list[EngineEvent]]:
        async with running(build_engine(dense)) as engine:
            return list(await asyncio.gather(*[collect(engine, each) for each in asked]))

    dense.context.memory.clear_all()
    return asyncio.run(main())


def test_sequences_side_by_side_say_what_they_say_alone(dense: LoadedModel) -> None:
    asked = [greedy(f"Sentence number {at} begins with its own words.") for at in range(6)]
    alone = [said(run(dense, each)[0]) for each in asked]
    together = [said(events) for events in run(dense, *asked)]
    assert together == alone
    assert len({tuple(tokens) for tokens in alone}) > 1, "the prompts must matter"


def test_the_same_seed_draws_the_same_tokens_and_is_reported(dense: LoadedModel) -> None:
    sampling = Sampling(temperature=1.5, seed=42, top_k=0, top_p=1.0, min_p=0.0)
    first, second = (run(dense, greedy("Dice", sampling=sampling))[0] for _ in range(2))
    other = run(dense, greedy("Dice", sampling=Sampling(temperature=1.5, seed=43, top_k=0, top_p=1.0, min_p=0.0)))[0]
    assert said(first) == said(second) != said(other)
    ended = first[-1]
    assert isinstance(ended, Ended)
    assert ended.seed == 42


def test_a_random_seed_is_drawn_and_repeats_the_answer(dense: LoadedModel) -> None:
    events = run(dense, greedy("Dice", sampling=Sampling(temperature=1.5, top_k=0, top_p=1.0, min_p=0.0)))[0]
    ended = events[-1]
    assert isinstance(ended, Ended)
    again = Sampling(temperature=1.5, seed=ended.seed, top_k=0, top_p=1.0, min_p=0.0)
    assert said(run(dense, greedy("Dice", sampling=again))[0]) == said(events)


def test_reported_probabilities_are_sorted_and_sum_to_at_most_one(dense: LoadedModel) -> None:
    import math

    for post in (False, True):
        events = run(dense, greedy("Probability", n_probs=5, post_sampling_probs=post, max_tokens=4))[0]
        tokens = [s for event in events if isinstance(event, Tokens) for s in event.sampled]
        assert len(tokens) == 4
        for each in tokens:
            assert each.chosen is not None
            values = [p.logprob if post else math.exp(p.logprob) for p in each.top]
            assert values == sorted(values, reverse=True)
            assert 0.0 < sum(values) <= 1.0 + 1e-6
            assert each.top[0].token == each.token == each.chosen.token
            assert len(each.top) == (1 if post else 5)


class OnlyDigits:
    """A guide that forces "no" first, allows only digits, and is finished after four of them."""

    def __init__(self, n_vocab: int) -> None:
        self.taken: list[int] = []
        self._start = list(byte_tokens("no"))
        bits = bytearray(-(-n_vocab // 32) * 4)
        for token in byte_tokens("0123456789"):
            bits[token // 8] |= 1 << (token % 8)
        self._mask = bytes(bits)
        self._digits = frozenset(byte_tokens("0123456789"))

    @property
    def finished(self) -> bool:
        return len(self.taken) >= 6

    def forced(self) -> list[int]:
        return self._start if not self.taken else []

    def allows(self, token: int) -> bool:
        return token in self._digits

    def mask(self) -> bytes | None:
        return self._mask

    def accept(self, token: int) -> None:
        self.taken.append(token)


def test_a_guide_forces_allows_and_finishes(dense: LoadedModel) -> None:
    guide = OnlyDigits(dense.vocab.n_tokens)
    events = run(dense, greedy("Say a number: ", guide=guide, max_tokens=50))[0]
    text = dense.vocab.detokenize(said(events)).decode()
    assert text[:2] == "no"
    assert text[2:].isdigit()
    assert len(text) == 6
    assert said(events) == guide.taken


def test_a_guide_that_raises_ends_its_own_sequence_only(dense: LoadedModel, caplog: pytest.LogCaptureFixture) -> None:
    class Faulty(OnlyDigits):
        def allows(self, token: int) -> bool:
            raise RuntimeError("a fault in a guide")

    bad, good = run(dense, greedy("one", guide=Faulty(dense.vocab.n_tokens)), greedy("another text"))
    assert isinstance(bad[-1], Failed)
    assert isinstance(good[-1], Ended)
    assert len(said(good)) == 12


def test_a_guide_that_allows_nothing_fails_its_own_sequence(dense: LoadedModel) -> None:
    class Nothing(OnlyDigits):
        def allows(self, token: int) -> bool:
            return False

        def mask(self) -> bytes | None:
            return bytes(len(self._mask))

    bad, good = run(dense, greedy("one", guide=Nothing(dense.vocab.n_tokens)), greedy("another text"))
    assert isinstance(bad[-1], Failed)
    assert len(said(good)) == 12


def test_bad_sampling_fails_before_it_runs_and_names_the_field(dense: LoadedModel) -> None:
    events = run(dense, greedy("x", sampling=Sampling(repeat_penalty=0.0)))[0]
    assert isinstance(events[-1], Failed)
    assert isinstance(events[-1].error, InvalidField)
    assert events[-1].error.field == "repeat_penalty"


def test_a_decode_that_fails_for_one_sequence_leaves_the_others_their_answers(
    dense: LoadedModel, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from ferrox_gguf.llama.batch import Batch
    from ferrox_gguf.llama.context import Context, DecodeFailed

    poison = byte_tokens("\x07")[0]
    decode = Context.decode

    def failing(context: Context, batch: Batch) -> None:
        if poison in batch.tokens[: batch.n_tokens]:
            raise DecodeFailed(-3, "poisoned by the test")
        decode(context, batch)

    good_alone = said(run(dense, greedy("a good text"))[0])
    monkeypatch.setattr(Context, "decode", failing)
    good, bad = run(dense, greedy("a good text"), greedy("a bad \x07 text"))
    assert said(good) == good_alone
    assert isinstance(bad[-1], Failed)
