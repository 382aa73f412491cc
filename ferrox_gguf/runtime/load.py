"""From a file to a ServedModel: facts, weights, posture, template and engine, in that order."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ferrox_gguf.engine.build import build_engine
from ferrox_gguf.engine.embedder import Embedder
from ferrox_gguf.engine.loop import EngineLoop
from ferrox_gguf.gguf import FileFacts, read_facts
from ferrox_gguf.grammar.compiler import GrammarCompiler
from ferrox_gguf.llama.embedding import EmbeddingBatches, reads_in_pieces
from ferrox_gguf.llama.guidance import build_tokenizer
from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.llama.options import Pooling
from ferrox_gguf.request import AdapterState, LoraScale
from ferrox_gguf.runtime.adapters import Adapters
from ferrox_gguf.runtime.constraints import Constraints
from ferrox_gguf.runtime.embedding import Embeddings, InputLimits
from ferrox_gguf.runtime.infill import FillLimits
from ferrox_gguf.runtime.model import ServedModel
from ferrox_gguf.runtime.options import model_options, reading_options
from ferrox_gguf.runtime.voice import make_voices
from ferrox_gguf.settings import Settings

logger = logging.getLogger(__name__)

WORKERS = 4
"""Threads for rendering and tokenising, unless `--threads-http` says otherwise. More take time from the engine."""

STOP_SECONDS = 1.0
"""How long to wait for the decode that is running when the server stops."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """One model, ready, and what it was assembled from. reading: None unless it was started for embeddings."""

    model: ServedModel
    engine: EngineLoop
    loaded: LoadedModel
    facts: FileFacts
    reading: Reading | None = None

    async def close(self) -> None:
        """Stop all that uses the weights and free them; they stay where they are if something does not end in time."""
        self.engine.stop()
        stopped = await self.engine.wait_stopped(STOP_SECONDS)
        if self.reading:
            stopped &= await asyncio.to_thread(self.reading.close, STOP_SECONDS)
        try:
            await asyncio.wait_for(asyncio.to_thread(self.model.close), STOP_SECONDS)
        except asyncio.TimeoutError:
            stopped = False
        if stopped:
            self.loaded.close()


@dataclass(frozen=True, slots=True)
class Reading:
    """What reads for embeddings: a context of its own over the same weights, its thread, and its face."""

    loaded: LoadedModel
    embedder: Embedder
    embeddings: Embeddings

    def close(self, timeout: float) -> bool:
        """False when a batch still runs: then the weights must stay, too."""
        if not self.embedder.stop(timeout):
            return False
        self.loaded.context.close()
        return True


def assemble(settings: Settings, loop: asyncio.AbstractEventLoop) -> Assembled:
    """Blocks until the model is loaded. The engine is built, and started by start() on its loop."""
    facts = read_facts(settings.model.path)
    loaded = LoadedModel.load(model_options(settings))
    logger.info("loaded %s in %.1f s", settings.model.path, loaded.load_ms / 1000)
    engine = build_engine(
        loaded,
        context_shift=settings.context.context_shift,
        step_budget_ms=settings.schedule.step_budget_ms,
        cache_ram_mib=settings.cache.ram_mib,
        # Whoever saves slots to files expects to find in a slot what was asked there.
        clear_idle=settings.cache.save_idle_slots and not settings.cache.slot_save_path,
        similarity=settings.cache.slot_prompt_similarity,
        checkpoints=settings.cache.checkpoints,
        checkpoint_step=settings.cache.checkpoint_min_step,
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
    adapters = Adapters([AdapterState(a.path, a.scale, a.task_name, a.prompt_prefix) for a in loaded.adapters])
    workers = settings.server.threads
    aside = ThreadPoolExecutor(workers if workers > 0 else WORKERS, thread_name_prefix="aside")
    model = ServedModel(
        settings=settings,
        vocabulary=loaded.vocab,
        engine=engine,
        voices=voices,
        constraints=Constraints(loaded.vocab, aside.submit(lambda: compiler(loaded))),
        aside=aside,
        adapters=adapters,
        fill=FillLimits(settings.context.n_batch, loaded.context.slot_context, settings.spm_infill),
    )
    wanted = settings.embedding
    reading = make_reading(settings, loaded, facts, adapters) if wanted.enabled or wanted.reranking else None
    return Assembled(model, engine, loaded, facts, reading)


def make_reading(settings: Settings, loaded: LoadedModel, facts: FileFacts, adapters: Adapters) -> Reading:
    """Blocks while its context is made; its thread runs from then on."""
    stored = int(loaded.model.meta(f"{loaded.model.architecture}.pooling_type") or 0)
    second = loaded.beside(reading_options(settings, loaded.context.slot_context, stored))
    context, batches = second.context, EmbeddingBatches(second.context)

    def use(applied: tuple[LoraScale, ...]) -> None:
        batches.use([(loaded.adapters[each.adapter], each.scale) for each in applied])

    use(adapters.applied)
    adapters.changed = use
    pieces = "" if batches.longest <= batches.n_tokens else f", {batches.longest} an input"
    logger.info("embeddings: pooling %s, %d tokens a batch%s", context.pooling.value, batches.n_tokens, pieces)
    if not loaded.context.memory.exists:
        logger.info("this model is an encoder: it does not generate")
    embedder = Embedder(batches, queue_limit=settings.schedule.queue_limit)
    embedder.start()
    embeddings = Embeddings(
        embedder,
        loaded.vocab,
        InputLimits(context.slot_context, None if reads_in_pieces(context) else context.n_ubatch),
        pooled=context.pooling is not Pooling.NONE,
        ranks=context.pooling is Pooling.RANK,
        rerank_template=facts.named_templates.get("rerank"),
    )
    return Reading(second, embedder, embeddings)


def compiler(loaded: LoadedModel) -> GrammarCompiler:
    """Reads every token once, so it runs beside the first requests."""
    return GrammarCompiler(build_tokenizer(loaded.vocab, sorted(loaded.vocab.end_tokens)))
