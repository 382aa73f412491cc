"""From a file to a ServedModel: facts, weights, posture, template and engine, in that order."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ferrox_gguf.engine.build import build_engine
from ferrox_gguf.engine.loop import EngineLoop
from ferrox_gguf.gguf import FileFacts, read_facts
from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.posture.values import Posture
from ferrox_gguf.request import Generation
from ferrox_gguf.runtime.model import ServedModel
from ferrox_gguf.runtime.options import model_options
from ferrox_gguf.runtime.raw_reader import RawReader
from ferrox_gguf.settings import Settings

logger = logging.getLogger(__name__)

WORKERS = 4
"""Threads for rendering and tokenising. More would only take time from the engine."""

STOP_SECONDS = 1.0
"""How long to wait for the decode that is running when the server stops."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """One model, ready, and what it was assembled from."""

    model: ServedModel
    engine: EngineLoop
    loaded: LoadedModel
    facts: FileFacts
    posture: Posture

    async def close(self) -> None:
        """Stop the engine and free the weights; they stay where they are if a decode does not end in time."""
        self.engine.stop()
        if await self.engine.wait_stopped(STOP_SECONDS):
            self.loaded.close()


def assemble(settings: Settings, loop: asyncio.AbstractEventLoop) -> Assembled:
    """Blocks until the model is loaded. The engine is built, and started by start() on its loop."""
    facts = read_facts(settings.model.path)
    loaded = LoadedModel.load(model_options(settings))
    logger.info("loaded %s in %.1f s", settings.model.path, loaded.load_ms / 1000)
    engine = build_engine(
        loaded,
        context_shift=settings.context.context_shift,
        step_budget_ms=settings.schedule.step_budget_ms,
        queue_size=settings.schedule.queue_limit,
    )
    vocabulary = loaded.vocab
    posture = Posture()

    def raw_reader(generation: Generation) -> RawReader:
        return RawReader(vocabulary.piece, generation.stop)

    model = ServedModel(
        vocabulary=vocabulary,
        engine=engine,
        raw_reader=raw_reader,
        aside=ThreadPoolExecutor(WORKERS, thread_name_prefix="aside"),
    )
    return Assembled(model, engine, loaded, facts, posture)
