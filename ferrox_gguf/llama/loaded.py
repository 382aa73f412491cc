"""A model that is ready to decode: weights, vocabulary, context and adapters, opened and closed together."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from ferrox_gguf.llama.adapter import Adapter, load_adapter
from ferrox_gguf.llama.context import Context, DecodeFailed, KVCacheFull
from ferrox_gguf.llama.control_vector import apply_control_vectors
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
        try:
            vocab = Vocab(model)
            adapters = tuple(load_adapter(model, file) for file in options.lora)
            context = open_context(model, vocab, options)
        except BaseException:
            model.close()
            raise
        return cls(options, model, vocab, context, adapters, 1000.0 * (time.monotonic() - began))

    def beside(self, options: ModelOptions) -> LoadedModel:
        """Another context over the same weights. Close its context before this model."""
        return replace(self, options=options, context=open_context(self.model, self.vocab, options))

    def close(self) -> None:
        """Free everything. The engine must have stopped."""
        self.context.close()
        self.model.close()


def open_context(model: Model, vocab: Vocab, options: ModelOptions) -> Context:
    """A context with its control vectors, warmed up. Raises StartupError with nothing left behind."""
    context = Context(model, options)
    try:
        apply_control_vectors(context.pointer, model, options.control_vectors, options.control_vector_layers)
        if options.warmup:
            warm_up(context, vocab)
    except BaseException:
        context.close()
        raise
    return context


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
