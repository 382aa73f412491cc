"""Obeys a plan with llama.cpp: moves cells, decodes, draws. Decides nothing that the scheduler could decide.

A draw costs one call into llama.cpp unless a guide or a report of probabilities is in the way: then the first draw is
checked, and only a refused one pays for a mask.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ferrox_gguf.engine.contract import Guide, Probability, Sampled, SequenceRequest
from ferrox_gguf.engine.plan import BatchPlan, Drawn, Gathered, Outcome, PlanRow, Verdict
from ferrox_gguf.engine.states import CellStates
from ferrox_gguf.errors import GenerationFailed
from ferrox_gguf.llama.adapter import Adapter
from ferrox_gguf.llama.candidates import Candidates, NothingAllowed, log_probabilities
from ferrox_gguf.llama.context import Context, DecodeFailed, KVCacheFull
from ferrox_gguf.llama.dry import DryPrototypes
from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.llama.memory import MemoryMisuse
from ferrox_gguf.llama.room import Question, Room, RoomFailed, room_cells
from ferrox_gguf.llama.sampler import Sampler
from ferrox_gguf.request import LoraScale

logger = logging.getLogger(__name__)

_FORCED_LIMIT = 4096
"""Tokens that a guide may force in one go; more is a guide that does not end."""

_DRAWS = 16
"""Draws under a guide's mask. One is enough for a grammar; a gate before one finds its refusals as they are drawn."""


class Executor(Protocol):
    """What the loop needs of the world: llama.cpp's is below, `scripted.py` has one without a model.

    open: a sequence will be drawn for; the seed in use. Raises FerroxError for parameters that cannot be.
    close: it will not be drawn for any more (unknown handles are ignored).
    finish: nothing will be asked of it any more; what it made beside the model's context is freed.
    execute: never raises for a fault of one sequence; that one's row says so in the outcome.
    take_state, put_state: a slot's whole state out and in. False: it did not fit or is not one of `length` tokens, and
        the slot is empty.
    belongs_to: names the model and cache layout whose states these are.
    """

    def open(self, handle: int, request: SequenceRequest) -> int: ...
    def close(self, handle: int) -> None: ...
    def finish(self) -> None: ...
    def execute(self, plan: BatchPlan) -> Outcome: ...
    def first_position(self, slot: int) -> int: ...
    def take_state(self, slot: int) -> NDArray[np.uint8]: ...
    def put_state(self, slot: int, state: NDArray[np.uint8], length: int) -> bool: ...
    @property
    def belongs_to(self) -> str: ...


class Voice:
    """How one sequence draws its tokens: its sampler chain, its guide, and what it reports."""

    __slots__ = ("guide", "request", "sampler")

    def __init__(self, request: SequenceRequest, sampler: Sampler) -> None:
        self.request = request
        self.sampler = sampler
        self.guide: Guide | None = request.guide

    @property
    def plain(self) -> bool:
        """Can llama.cpp draw and accept by itself?"""
        return self.guide is None and self.request.n_probs == 0


class LlamaExecutor:
    """The executor over one loaded model. Every method on the engine thread."""

    def __init__(self, loaded: LoadedModel) -> None:
        self._loaded = loaded
        self._context: Context = loaded.context
        self._memory = loaded.context.memory
        self._batch = loaded.context.batch
        self._candidates = Candidates(loaded.vocab.n_tokens)
        self._states = CellStates(loaded.context.memory)
        self._dry = DryPrototypes(loaded.vocab)
        self._voices: dict[int, Voice] = {}
        self._lora: tuple[LoraScale, ...] | None = None
        self._room: Room | None = None
        self._has_room = True
        self._decode_ms = 0.0

    def open(self, handle: int, request: SequenceRequest) -> int:
        n_context = self._context.slot_context
        sampler = Sampler(self._loaded.vocab, request.sampling, n_context=n_context, dry=self._dry)
        sampler.prime(request.tokens)
        self._voices[handle] = Voice(request, sampler)
        return sampler.seed

    def close(self, handle: int) -> None:
        voice = self._voices.pop(handle, None)
        if voice is not None:
            voice.sampler.close()

    def finish(self) -> None:
        if self._room is not None:
            self._room.close()
            self._room = None

    def first_position(self, slot: int) -> int:
        return self._memory.first_position(slot)

    def take_state(self, slot: int) -> NDArray[np.uint8]:
        return self._memory.save(slot)

    def put_state(self, slot: int, state: NDArray[np.uint8], length: int) -> bool:
        if not self._memory.restore(slot, state):
            return False
        if self._memory.last_position(slot) != length - 1:
            self._memory.clear(slot)
            return False
        return True

    @property
    def belongs_to(self) -> str:
        model, options = self._loaded.model, self._loaded.options
        name = model.meta("general.name") or Path(options.path).name
        cells = f"{options.cache_type_k.value}/{options.cache_type_v.value}"
        shared = "" if self._memory.traits.shares_cells else ", a cache for each slot"
        return f"{name}, {model.description}, {model.n_params} parameters, {cells} cells{shared}"

    def execute(self, plan: BatchPlan) -> Outcome:
        lost, saved, save_ms = self._states.operate(plan.operations)
        if lost:
            return Outcome(Verdict.SKIPPED, lost=lost, saved=saved, save_ms=save_ms)
        if not plan.rows:
            return Outcome(Verdict.DONE, saved=saved, save_ms=save_ms)
        if plan.lora != self._lora:
            self._set_adapters(plan.lora)
        drawn: dict[int, Drawn] = {}
        self._decode_ms, begun = 0.0, False
        for rows in self._parts(plan):
            try:
                last = self._decode(rows.values())
            except KVCacheFull:
                if not begun:
                    return Outcome(Verdict.FULL, saved=saved, save_ms=save_ms)
                drawn |= self._one_by_one(rows)
            except DecodeFailed as error:
                logger.warning("a batch of %d sequences failed, trying each alone: %s", len(rows), error)
                drawn |= self._one_by_one(rows)
            else:
                drawn |= self._draw_all(self._context, rows, last)
            begun = True
        if plan.gathered:
            drawn |= self._read_together(plan, plan.gathered)
        return Outcome(Verdict.DONE, drawn, self._decode_ms, saved=saved, save_ms=save_ms)

    def _parts(self, plan: BatchPlan) -> list[dict[int, PlanRow]]:
        """The rows of each decode, by index. Where slots have caches of their own, llama.cpp computes a prompt apart
        from the answers anyway, but for its first token: which is cheaper with the others."""
        rows = dict(enumerate(plan.rows))
        if plan.gathered:
            rows = {index: row for index, row in rows.items() if row.sequence not in plan.gathered.sequences}
        if self._memory.traits.shares_cells or plan.decoding == 0:
            return [rows] if rows else []
        single = {index: row for index, row in rows.items() if len(row.tokens) == 1}
        longer = {index: row for index, row in rows.items() if len(row.tokens) > 1}
        return [part for part in (single, longer) if part]

    def _adapters(self, lora: tuple[LoraScale, ...]) -> list[tuple[Adapter, float]]:
        return [(self._loaded.adapters[each.adapter], each.scale) for each in lora]

    def _set_adapters(self, lora: tuple[LoraScale, ...]) -> None:
        adapters = self._adapters(lora)
        self._context.set_adapters(adapters)
        if self._room is not None:
            self._room.set_adapters(adapters)
        self._lora = lora

    def _decode(self, rows: Iterable[PlanRow]) -> list[int]:
        """One llama_decode of these rows; the batch index of each row's last token."""
        batch = self._batch
        batch.clear()
        last = [batch.add(r.tokens, slot=r.slot, start=r.start, output=r.wants_logits) for r in rows]
        began = time.perf_counter()
        try:
            self._context.decode(batch)
        finally:
            self._decode_ms += 1000.0 * (time.perf_counter() - began)
        return last

    def _read_together(self, plan: BatchPlan, gathered: Gathered) -> dict[int, Drawn]:
        """Read rows in the room, or one by one if it cannot be done there."""
        rows = {index: row for index, row in enumerate(plan.rows) if row.sequence in gathered.sequences}
        if not self._has_room:
            return self._one_by_one(rows)
        began = time.perf_counter()
        try:
            if self._room is None:
                self._room = Room(self._loaded, room_cells(self._loaded))
                self._room.set_adapters(self._adapters(plan.lora))
            last = self._room.read(gathered.prefix, [Question(row.slot, row.tokens) for row in rows.values()])
        except (RoomFailed, MemoryMisuse) as error:
            logger.warning("short prompts are read one by one from now on: %s", error)
            self.finish()
            self._has_room = False
            return self._one_by_one(rows)
        self._decode_ms += 1000.0 * (time.perf_counter() - began)
        return self._draw_all(self._room.context, rows, last)

    def _one_by_one(self, rows: dict[int, PlanRow]) -> dict[int, Drawn]:
        """Find the rows that cannot be computed; the others get their step as if nothing had happened."""
        drawn: dict[int, Drawn] = {}
        undone = {index: self._undo(row) for index, row in rows.items()}
        for index, row in rows.items():
            try:
                if not undone[index]:
                    raise MemoryMisuse("its state was lost with a failed batch")
                last = self._decode((row,))
            except (DecodeFailed, KVCacheFull, MemoryMisuse) as error:
                drawn[index] = Drawn(error=GenerationFailed(f"the model could not compute this sequence: {error}"))
                continue
            if row.wants_logits:
                drawn[index] = self._draw(row, self._context, last[0])
        return drawn

    def _undo(self, row: PlanRow) -> bool:
        """Take back what a failed batch may have evaluated of a row; False when its slot cannot be cut so."""
        try:
            self._memory.cut(row.slot, row.start)
        except MemoryMisuse:
            self._memory.clear(row.slot)
            return False
        return True

    def _draw_all(self, context: Context, rows: dict[int, PlanRow], last: list[int]) -> dict[int, Drawn]:
        """A draw for each row that wants one. last: where in the context's batch the rows end."""
        return {
            index: self._draw(row, context, at)
            for (index, row), at in zip(rows.items(), last, strict=True)
            if row.wants_logits
        }

    def _draw(self, row: PlanRow, context: Context, index: int) -> Drawn:
        """The row's next token, or tokens. Whatever goes wrong is this sequence's own failure."""
        voice = self._voices[row.sequence]
        try:
            if voice.plain:
                sampled: tuple[Sampled, ...] = (Sampled(voice.sampler.sample(context, index, self._candidates)),)
                finished = False
            else:
                sampled, finished = self._draw_guided(voice, context, index)
        except NothingAllowed:
            return Drawn(error=GenerationFailed("no token is allowed here by the constraint and the logit bias"))
        except Exception as error:  # a guide is foreign code: its faults end one sequence, never the engine
            logger.exception("drawing a token failed")
            return Drawn(error=GenerationFailed(f"drawing a token failed: {error}"))
        line_break = False
        if voice.request.t_max_predict_ms:
            line_break = b"\n" in self._loaded.vocab.piece(sampled[-1].token)
        return Drawn(sampled, finished, line_break)

    def _draw_guided(self, voice: Voice, context: Context, index: int) -> tuple[tuple[Sampled, ...], bool]:
        """Forced tokens if there are any, else one drawn token and those that it forces."""
        sampled = self._force(voice, [])
        if not sampled:
            sampled.append(self._draw_one(voice, context, index))
            self._force(voice, sampled)
        guide = voice.guide
        return tuple(sampled), guide is not None and guide.finished

    def _force(self, voice: Voice, sampled: list[Sampled]) -> list[Sampled]:
        """Append what the guide forces now, until it forces nothing."""
        guide = voice.guide
        while guide is not None and not guide.finished and (forced := guide.forced()):
            self._loaded.vocab.require(forced)
            for token in forced:
                guide.accept(token)
                voice.sampler.accept(token)
                certain = Probability(token, 1.0 if voice.request.post_sampling_probs else 0.0)
                sampled.append(Sampled(token, certain if voice.request.n_probs else None))
            if len(sampled) > _FORCED_LIMIT:
                raise ValueError("the guide forces tokens without end")
        return sampled

    def _draw_one(self, voice: Voice, context: Context, index: int) -> Sampled:
        """Draw, let the guide check, draw again under its mask if it refuses."""
        logits, candidates, guide, sampler = context.logits(index), self._candidates, voice.guide, voice.sampler
        sampler.fill(candidates, logits)
        token = sampler.draw(candidates)
        for _ in range(_DRAWS):
            if guide is None or guide.allows(token):
                break
            sampler.fill(candidates, logits, guide.mask())
            token = sampler.draw(candidates)
        request, sampled = voice.request, Sampled(token)
        if request.n_probs:
            if request.post_sampling_probs:
                own, best = candidates.best(request.n_probs, token)
            else:
                own, best = log_probabilities(logits, request.n_probs, token)
            sampled = Sampled(token, Probability(token, own), tuple(Probability(*each) for each in best))
        voice.sampler.accept(token)
        if guide is not None:
            guide.accept(token)
        return sampled
