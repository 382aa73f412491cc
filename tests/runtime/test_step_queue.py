"""Steps on their way to whoever sends them: complete for a fast reader, merged for a slow one, never lost."""

import asyncio

import pytest

from ferrox_gguf.errors import GenerationFailed
from ferrox_gguf.events import (
    ContentDelta,
    Finish,
    ReasoningDelta,
    Step,
    StopType,
    Timings,
    ToolCallArguments,
    ToolCallStart,
    Usage,
)
from ferrox_gguf.runtime.step_queue import MERGE_AFTER, StepQueue, merged

END = Finish(StopType.EOS, Usage(), Timings())


def text(steps):
    return "".join(event.text for step in steps for event in step.events)


def test_a_reader_that_keeps_up_sees_every_step():
    async def scene():
        queue = StepQueue(1)
        seen = []
        for at in range(3):
            queue.put(Step(0, (ContentDelta(str(at)),), (at,)))
            seen += await queue.next()
        return seen

    assert [step.tokens for step in asyncio.run(scene())] == [(0,), (1,), (2,)]


def test_steps_that_nobody_reads_are_merged_without_a_loss():
    async def scene():
        queue = StepQueue(2)
        for at in range(3 * MERGE_AFTER):
            queue.put(Step(at % 2, (ContentDelta(f"{at},"),), (at,)))
        return await queue.next()

    steps = asyncio.run(scene())
    assert len(steps) < MERGE_AFTER
    for choice in (0, 1):
        own = [step for step in steps if step.choice == choice]
        expected = list(range(choice, 3 * MERGE_AFTER, 2))
        assert [token for step in own for token in step.tokens] == expected
        assert text(own) == "".join(f"{at}," for at in expected)


def test_merging_keeps_the_order_of_kinds():
    (step,) = merged(
        Step(0, events)
        for events in (
            (ReasoningDelta("a"),),
            (ReasoningDelta("b"), ContentDelta("c")),
            (ContentDelta("d"), ToolCallStart(0, "f"), ToolCallArguments(0, "1")),
            (ToolCallArguments(0, "2"), ToolCallStart(1, "g"), ToolCallArguments(1, "3")),
        )
    )
    assert step.events == (
        ReasoningDelta("ab"),
        ContentDelta("cd"),
        ToolCallStart(0, "f"),
        ToolCallArguments(0, "12"),
        ToolCallStart(1, "g"),
        ToolCallArguments(1, "3"),
    )


def test_it_is_over_when_every_choice_has_finished():
    async def scene():
        queue = StepQueue(2)
        queue.put(Step(0, finish=END))
        await queue.next()
        half = queue.over
        queue.put(Step(1, finish=END))
        await queue.next()
        return half, queue.over

    assert asyncio.run(scene()) == (False, True)


def test_silence_is_an_empty_answer_and_not_the_end():
    async def scene():
        queue = StepQueue(1)
        return await queue.next(silence=0.01), queue.over

    assert asyncio.run(scene()) == ([], False)


def test_an_error_comes_after_the_steps_before_it_and_only_the_first_counts():
    async def scene():
        queue = StepQueue(2)
        queue.put(Step(0, (ContentDelta("a"),)))
        queue.fail(GenerationFailed("first"))
        queue.fail(GenerationFailed("second"))
        assert text(await queue.next()) == "a"
        with pytest.raises(GenerationFailed, match="first"):
            await queue.next()
        assert queue.over

    asyncio.run(scene())


def test_an_error_wakes_a_waiting_reader():
    async def scene():
        queue = StepQueue(1)
        asyncio.get_running_loop().call_soon(queue.fail, GenerationFailed("gone"))
        with pytest.raises(GenerationFailed):
            await queue.all()

    asyncio.run(scene())


def test_everything_is_read_at_once_when_nothing_is_streamed():
    async def scene():
        queue = StepQueue(1)

        def later(at):
            queue.put(Step(0, (ContentDelta("x"),), finish=END if at == 999 else None))
            if at < 999:
                asyncio.get_running_loop().call_soon(later, at + 1)

        asyncio.get_running_loop().call_soon(later, 0)
        return text(await queue.all())

    assert asyncio.run(scene()) == "x" * 1000
