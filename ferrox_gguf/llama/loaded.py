"""A model that is ready to decode: weights, vocabulary, context and adapters, opened and closed together."""

from __future__ import annotations

import time
from dataclasses import dataclass

from ferrox_gguf.llama.adapter import Adapter, load_adapter
from ferrox_gguf.llama.context import Context, DecodeFailed, KVCacheFull
from ferrox_gguf.llama.model import Model, Progress
from ferrox_gguf.llama.options import ModelOptions
from ferrox_gguf.llama.vocab import Vocab


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """Everything one process needs of one GGUF. load_ms: reading the file and making the context, warm-up included."""

    options: ModelOptions
    model: Model
    vocab: Vocab
    context: Context
    adapters: tuple[Adapter, ...]
    load_ms: float

    @classmethod
    def load(cls, options: ModelOptions, progress: Progress | None = None) -> LoadedModel:
        """Blocks until ready. Raises StartupError (GgufError for the file) with one clear line, nothing left behind."""
        began = time.monotonic()
        model = Model.load(options, progress)
        context: Context | None = None
        try:
            vocab = Vocab(model)
            context = Context(model, options)
            adapters = tuple(load_adapter(model, file) for file in options.lora)
            if options.warmup:
                warm_up(context, vocab)
        except BaseException:
            if context is not None:
                context.close()
            model.close()
            raise
        return cls(options, model, vocab, context, adapters, 1000.0 * (time.monotonic() - began))

    def close(self) -> None:
        """Free everything. The engine must have stopped."""
        self.context.close()
        self.model.close()


def warm_up(context: Context, vocab: Vocab) -> None:
    """One tiny decode, so that the first request does not pay for touching the weights. Leaves the cache empty."""
    token = next((token for token in (vocab.bos, vocab.eos) if token is not None), 0)
    batch = context.batch
    batch.clear()
    batch.add([token], slot=0, start=0, output=True)
    try:
        context.decode(batch)
    except (DecodeFailed, KVCacheFull):
        return
    finally:
        batch.clear()
        if context.memory.exists:
            context.memory.clear_all()
