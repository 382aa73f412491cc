"""What `/slots` and `/metrics` show of a server that also reads for embeddings."""

from __future__ import annotations

from dataclasses import replace

from ferrox_gguf.engine.embedder import Embedder
from ferrox_gguf.engine.loop import EngineLoop
from ferrox_gguf.engine.stats import EngineStats


class ReadingLanes:
    """The engine's lanes; what the embedder read is counted among the prompts, as llama-server counts it."""

    def __init__(self, engine: EngineLoop, embedder: Embedder) -> None:
        self._engine, self._embedder = engine, embedder
        self.slots, self.save_slot = engine.slots, engine.save_slot
        self.restore_slot, self.erase_slot = engine.restore_slot, engine.erase_slot

    def stats(self) -> EngineStats:
        generated, read = self._engine.stats(), self._embedder.counters
        return replace(
            generated,
            prompt_tokens=generated.prompt_tokens + read.tokens,
            prompt_ms=generated.prompt_ms + read.read_ms,
            decode_calls=generated.decode_calls + read.batches,
            busy_slots_total=generated.busy_slots_total + read.inputs,
            queued=generated.queued + self._embedder.waiting,
        )
