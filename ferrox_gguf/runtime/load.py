"""From a file to a ServedModel: facts, weights, posture, template and engine, in that order."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ferrox_gguf.engine.build import build_engine
from ferrox_gguf.engine.loop import EngineLoop
from ferrox_gguf.gguf import FileFacts, read_facts
from ferrox_gguf.grammar.compiler import GrammarCompiler
from ferrox_gguf.llama.guidance import build_tokenizer
from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.runtime.constraints import Constraints
from ferrox_gguf.runtime.model import ServedModel
from ferrox_gguf.runtime.options import model_options
from ferrox_gguf.runtime.voice import make_voices
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
    voices = make_voices(facts, loaded.vocab, settings.chat)
    for note in voices.choice.notes:
        logger.warning("%s", note)
    for line in voices.plain.posture.evidence:
        logger.info("posture: %s", line)
    # Asked here, since the first request should not wait for the answers.
    for voice in (voices.plain, voices.tools):
        _ = voice.renderer.capabilities, voice.renderer.switches
    aside = ThreadPoolExecutor(WORKERS, thread_name_prefix="aside")
    model = ServedModel(
        settings=settings,
        vocabulary=loaded.vocab,
        engine=engine,
        voices=voices,
        constraints=Constraints(loaded.vocab, aside.submit(lambda: compiler(loaded))),
        aside=aside,
    )
    return Assembled(model, engine, loaded, facts)


def compiler(loaded: LoadedModel) -> GrammarCompiler:
    """Reads every token once, so it runs beside the first requests."""
    return GrammarCompiler(build_tokenizer(loaded.vocab, sorted(loaded.vocab.end_tokens)))
