"""The engine thread: takes commands, plans, executes, commits, and hands each step's events over in one call.

The only file that knows both sides. Commands go in through one queue; events come out through one
`call_soon_threadsafe` a step, for all sequences together. The thread never waits for a client: sinks run on the event
loop, and what they do with a slow reader is theirs.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from ferrox_gguf.engine.contract import Ended, EngineState, Failed, SequenceRequest, Sink
from ferrox_gguf.engine.executor import Executor
from ferrox_gguf.engine.layout import Layout
from ferrox_gguf.engine.scheduler import Event, Scheduler
from ferrox_gguf.engine.sequence import Sequence
from ferrox_gguf.engine.slot_files import SlotFiles
from ferrox_gguf.engine.snapshot import SlotFile
from ferrox_gguf.engine.stats import EngineStats, SlotSnapshot
from ferrox_gguf.errors import FerroxError, GenerationFailed, InvalidField, PromptTooLong, Unavailable

logger = logging.getLogger(__name__)

T = TypeVar("T")

_FAULTS_IN_A_ROW = 3
"""Steps that may fail one after another, each with a fresh start, before the engine gives up."""
_NOTHING_TO_DO_S = 0.001
"""Pause after an empty plan. A plan is empty only when its sequences ended while it was made."""
QUEUE_SIZE = 1024
"""Sequences beyond the slots that may wait."""


@dataclass(frozen=True, slots=True)
class _Submit:
    handle: int
    request: SequenceRequest


@dataclass(frozen=True, slots=True)
class _Cancel:
    handle: int


@dataclass(frozen=True, slots=True)
class _Call:
    """Run something between two steps, on the engine thread. slot: only once this one is idle; -1 at once."""

    function: Callable[[], Any]
    future: asyncio.Future[Any]
    slot: int = -1


_ROUNDS = 4
"""Rounds of the event loop until a request is handed over. While one is prepared others arrive, and it takes three
rounds to accept, read and prepare those; without others, a round takes some microseconds. Where reading takes long,
`Pace.patience_ms` comes on top."""


@dataclass(frozen=True, slots=True)
class _Stop:
    pass


class EngineLoop:
    """The engine. Create and start() it inside a running event loop; every other method on that loop's thread.

    n_vocab: token ids of requests must be below it.  n_adapters: LoRA indices must be below it.
    generates: False for a model without a memory (an encoder); every request is then told so.
    """

    def __init__(
        self,
        executor: Executor,
        layout: Layout,
        *,
        n_vocab: int,
        n_adapters: int = 0,
        queue_size: int = QUEUE_SIZE,
        generates: bool = True,
    ) -> None:
        self.layout = layout
        self._generates = generates
        self._n_vocab = n_vocab
        self._n_adapters = n_adapters
        self._capacity = layout.n_slots + queue_size
        self._executor = executor
        self._scheduler = Scheduler(layout, first_position=executor.first_position)
        self._files = SlotFiles(self._scheduler.lanes, executor, slot_context=layout.slot_context, n_vocab=n_vocab)
        self._deferred: list[_Call] = []
        self._commands: SimpleQueue[_Submit | _Cancel | _Call | _Stop] = SimpleQueue()
        self._sinks: dict[int, Sink] = {}
        self._outbox: list[_Submit] = []
        self._next_handle = 0
        self._state = EngineState.STOPPED
        self._door = threading.Lock()
        self._thread: threading.Thread | None = None
        self._event_loop: asyncio.AbstractEventLoop | None = None

    # The event loop's side

    def start(self) -> None:
        """Start the thread; events are delivered on the running event loop."""
        self._event_loop = asyncio.get_running_loop()
        self._state = EngineState.RUNNING
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    @property
    def state(self) -> EngineState:
        return self._state

    def submit(self, request: SequenceRequest, sink: Sink) -> int:
        """Queue a sequence; its handle. Never blocks.

        Raises PromptTooLong or InvalidField when it can never run, Unavailable when the queue is full or the engine has
        stopped.
        """
        self._check(request)
        if len(self._sinks) >= self._capacity:
            raise Unavailable("too many requests are waiting")
        self._require_running()
        handle = self._next_handle + 1
        self._next_handle, self._sinks[handle] = handle, sink
        self._outbox.append(_Submit(handle, request))
        if len(self._outbox) == 1:
            self._flush_after(_ROUNDS)
        return handle

    def cancel(self, handle: int) -> None:
        """End a sequence silently: no event follows, its slot is free within one step. Idempotent."""
        self._flush()
        if self._sinks.pop(handle, None) is not None:
            self._commands.put(_Cancel(handle))

    async def call(self, function: Callable[[], T], *, idle_slot: int = -1) -> T:
        """Run a function on the engine thread between two steps; its result, or what it raised.

        idle_slot: wait until that slot runs nothing; it is served before any sequence that waits for it.
        """
        self._flush()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._put(_Call(function, future, idle_slot))
        return await future

    async def save_slot(self, slot: int, path: Path) -> SlotFile:
        """Write a slot to a file, once it is idle. Raises InvalidField (no such slot) or OSError."""
        self._check_slot(slot)
        return await self.call(lambda: self._files.save(slot, path), idle_slot=slot)

    async def restore_slot(self, slot: int, path: Path) -> SlotFile:
        """Fill a slot from a file, once it is idle. Raises InvalidField when the file cannot be used."""
        self._check_slot(slot)
        return await self.call(lambda: self._files.restore(slot, path), idle_slot=slot)

    async def erase_slot(self, slot: int) -> int:
        """Let a slot forget its tokens, once it is idle; how many they were."""
        self._check_slot(slot)
        return await self.call(lambda: self._files.erase(slot), idle_slot=slot)

    def slots(self) -> tuple[SlotSnapshot, ...]:
        """What each slot is doing; may be one step old."""
        snapshots = []
        for slot in self._scheduler.lanes.slots:
            running, held = slot.sequence, slot.held
            sequence = running or slot.previous
            if sequence is None:
                snapshots.append(SlotSnapshot(slot.index, self.layout.slot_context, False, n_tokens=held))
                continue
            limit = sequence.request.max_tokens
            snapshots.append(
                SlotSnapshot(
                    id=slot.index,
                    n_ctx=self.layout.slot_context,
                    is_processing=running is not None,
                    handle=sequence.handle,
                    request=sequence.request,
                    seed=sequence.seed,
                    n_tokens=held,
                    n_prompt=sequence.n_prompt,
                    n_cached=sequence.cached,
                    n_read=sequence.read,
                    n_decoded=sequence.generated,
                    n_remaining=-1 if limit < 0 else max(0, limit - sequence.generated),
                )
            )
        return tuple(snapshots)

    def stats(self) -> EngineStats:
        """Counters since the start, and the state now; may be one step old."""
        scheduler = self._scheduler
        slots = scheduler.lanes.slots
        return EngineStats.of(
            scheduler.counters,
            slots_processing=sum(1 for slot in slots if not slot.idle),
            slots_total=len(slots),
            queued=scheduler.queued,
            cells_used=scheduler.lanes.cells.used,
            cells_total=self.layout.n_cells,
        )

    def stop(self) -> None:
        """Ask the thread to end after the step that it is in; running sequences fail with Unavailable."""
        self._flush()
        if self._state is EngineState.RUNNING:
            self._state = EngineState.STOPPING
            self._commands.put(_Stop())

    async def wait_stopped(self, timeout: float) -> bool:
        """Wait for the thread to end; False when a decode still holds it."""
        thread = self._thread
        if thread is None:
            return True
        await asyncio.to_thread(thread.join, timeout)
        return not thread.is_alive()

    def _put(self, command: _Submit | _Call) -> None:
        """Into the inbox, unless nobody will look there any more. Raises Unavailable."""
        with self._door:
            self._require_running()
            self._commands.put(command)

    def _require_running(self) -> None:
        if self._state is not EngineState.RUNNING:
            raise Unavailable("the engine is not running")

    def _flush_after(self, rounds: int) -> None:
        assert self._event_loop is not None
        if rounds:
            self._event_loop.call_soon(self._flush_after, rounds - 1)
            return
        scheduler = self._scheduler
        came = sum(len(command.request.tokens) for command in self._outbox)
        patience_ms = 0.0 if scheduler.busy else scheduler.pace.patience_ms(came)
        if patience_ms:
            self._event_loop.call_later(patience_ms / 1000.0, self._flush)
        else:
            self._flush()

    def _flush(self) -> None:
        """Hand over what was submitted.

        Requests that came in the same instant are read together then; the thread would have begun with the first alone.
        """
        submitted, self._outbox = self._outbox, []
        for command in submitted:
            try:
                self._put(command)
            except Unavailable as error:
                self._deliver([(command.handle, Failed(error))])

    def _check_memory(self) -> None:
        if not self._generates:
            # llama-server's words: scripts match on them.
            raise GenerationFailed("the current context does not support logits computation. skipping")

    def _check_slot(self, slot: int) -> None:
        self._check_memory()
        if not 0 <= slot < self.layout.n_slots:
            raise InvalidField("id_slot", f"must be between 0 and {self.layout.n_slots - 1}")

    def _check(self, request: SequenceRequest) -> None:
        self._check_memory()
        count = len(request.tokens)
        if count == 0:
            raise InvalidField("prompt", "must have at least one token")
        if count >= self.layout.slot_context:
            raise PromptTooLong(prompt_tokens=count, context_tokens=self.layout.slot_context)
        if min(request.tokens) < 0 or max(request.tokens) >= self._n_vocab:
            raise InvalidField("prompt", f"token ids must be between 0 and {self._n_vocab - 1}")
        if request.id_slot >= self.layout.n_slots:
            raise InvalidField("id_slot", f"must be between -1 and {self.layout.n_slots - 1}")
        for each in request.lora:
            if not 0 <= each.adapter < self._n_adapters:
                raise InvalidField("lora", f"there is no adapter {each.adapter}")

    def _deliver(self, events: list[Event]) -> None:
        """On the event loop: give every sink its events. A sink that raises harms only itself."""
        sinks = self._sinks
        for handle, event in events:
            sink = sinks.get(handle)
            if sink is None:
                continue
            if isinstance(event, (Ended, Failed)):
                del sinks[handle]
            try:
                sink(event)
            except Exception:
                logger.exception("a sink failed")

    # The engine's side

    def _run(self) -> None:
        faults = 0
        while faults < _FAULTS_IN_A_ROW and self._take_commands():
            try:
                self._hand_off(self._step())
                faults = 0
            except Exception as error:
                # Only a fault of our own comes here: those who run now are told, and the next ones start afresh.
                faults += 1
                logger.exception("the engine failed")
                self._fail_all(GenerationFailed(f"the engine failed: {error}"))
                self._scheduler.forget_everything()
        self._fail_all(Unavailable("the server is shutting down"))
        self._executor.finish()
        with self._door:
            self._state = EngineState.STOPPED
            self._refuse_late_commands()

    def _step(self) -> list[Event]:
        """Plan, execute and commit."""
        plan = self._scheduler.plan(_now_ms())
        if not plan.rows and not plan.operations:
            time.sleep(_NOTHING_TO_DO_S)
            return self._scheduler.take_events()
        outcome = self._executor.execute(plan)
        return self._scheduler.commit(plan, outcome, _now_ms())

    def _take_commands(self) -> bool:
        """Obey everything in the inbox; sleep there while there is nothing to do. False: stop."""
        commands, busy = self._commands, self._scheduler.busy
        if self._deferred:
            waiting, self._deferred = self._deferred, []
            for call in waiting:
                self._call_or_defer(call, busy=not self._scheduler.lanes.slots[call.slot].idle)
        while True:
            try:
                command = commands.get_nowait() if busy else commands.get()
            except Empty:
                return True
            if isinstance(command, _Submit):
                self._submit(command)
            elif isinstance(command, _Cancel):
                self._scheduler.cancel(command.handle)
                self._executor.close(command.handle)
            elif isinstance(command, _Call):
                # Sequences that came before it may be about to take its slot: let them.
                self._call_or_defer(command, busy=command.slot >= 0 and busy)
            else:
                return False
            busy = self._scheduler.busy

    def _submit(self, command: _Submit) -> None:
        try:
            seed = self._executor.open(command.handle, command.request)
        except Exception as error:
            if not isinstance(error, FerroxError):
                logger.exception("a sequence could not be opened")
                error = GenerationFailed(f"the sequence could not be started: {error}")
            self._hand_off([(command.handle, Failed(error))])
            return
        self._scheduler.submit(Sequence(command.handle, command.request, seed))

    def _call_or_defer(self, command: _Call, *, busy: bool) -> None:
        if busy:
            self._deferred.append(command)
            return
        try:
            result, error = command.function(), None
        except Exception as raised:
            result, error = None, raised
        self._on_event_loop(_resolve, command.future, result, error)

    def _hand_off(self, events: list[Event]) -> None:
        if not events:
            return
        for handle, event in events:
            if isinstance(event, (Ended, Failed)):
                self._executor.close(handle)
        self._on_event_loop(self._deliver, events)

    def _on_event_loop(self, function: Callable[..., None], *arguments: Any) -> None:
        assert self._event_loop is not None
        try:
            self._event_loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            # The event loop has closed: nobody is left to tell.
            logger.debug("the event loop has closed")

    def _fail_all(self, error: FerroxError) -> None:
        for handle in self._scheduler.handles():
            self._scheduler.fail(handle, error)
        self._hand_off(self._scheduler.take_events())

    def _refuse_late_commands(self) -> None:
        """Commands that came after the end are answered too."""
        error = Unavailable("the server is shutting down")
        for call in self._deferred:
            self._on_event_loop(_resolve, call.future, None, error)
        while True:
            try:
                command = self._commands.get_nowait()
            except Empty:
                return
            if isinstance(command, _Submit):
                self._hand_off([(command.handle, Failed(error))])
            elif isinstance(command, _Call):
                self._on_event_loop(_resolve, command.future, None, error)


def _resolve(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


def _now_ms() -> float:
    return 1000.0 * time.monotonic()
