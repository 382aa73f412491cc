"""A loaded model as the routes see it: names, defaults, and what it says of itself."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from ferrox_gguf import __version__
from ferrox_gguf.runtime.load import Assembled, assemble
from ferrox_gguf.server.state import Ready
from ferrox_gguf.settings import Settings
from ferrox_gguf.wire.description import ModelDescription
from ferrox_gguf.wire.served import Served

FINGERPRINT = f"b{__version__}-ferrox"
"""Begins with "b", as llama.cpp's build numbers do and clients expect."""

VERBOSE = 5
"""The verbosity from which every answer carries `__verbose`."""


def load_ready(settings: Settings, loop: asyncio.AbstractEventLoop) -> Ready:
    """Load and assemble on this thread, start the engine on the event loop; blocks until that is done."""
    assembled = assemble(settings, loop)
    asyncio.run_coroutine_threadsafe(start(assembled), loop).result()
    return make_ready(settings, assembled)


async def start(assembled: Assembled) -> None:
    assembled.engine.start()


def make_ready(settings: Settings, assembled: Assembled) -> Ready:
    vocabulary = assembled.loaded.vocab
    served = Served(
        name=served_name(settings),
        fingerprint=FINGERPRINT,
        defaults=settings.generation,
        tokenise=lambda text: vocabulary.tokenize(text, add_special=False, parse_special=False),
        n_vocab=vocabulary.n_tokens,
        end_tokens=tuple(sorted(vocabulary.end_tokens)),
        n_parallel=assembled.loaded.context.n_slots,
        sse_ping_interval=settings.server.sse_ping_interval,
        verbose=settings.log.verbosity >= VERBOSE,
    )
    return Ready(assembled.model, served, describe(settings, assembled), assembled.posture, assembled.close)


def served_name(settings: Settings) -> str:
    """The first alias in alphabetical order, as llama-server chooses it; the file's name when there is none."""
    return min(settings.model.aliases, default=Path(settings.model.path).name)


def describe(settings: Settings, assembled: Assembled) -> ModelDescription:
    model, vocabulary, context = assembled.loaded.model, assembled.loaded.vocab, assembled.loaded.context
    return ModelDescription(
        path=settings.model.path,
        file_type=model.file_type,
        context_tokens=context.slot_context,
        trained_tokens=model.n_ctx_train,
        n_vocab=vocabulary.n_tokens,
        n_embd=model.n_embd,
        parameters=model.n_params,
        size=model.size,
        vocab_type=vocabulary.type.value,
        template=assembled.facts.chat_template or "",
        bos=token_text(assembled, vocabulary.bos),
        eos=token_text(assembled, vocabulary.eos),
        created=int(time.time()),
    )


def token_text(assembled: Assembled, token: int | None) -> str:
    return "" if token is None else assembled.loaded.vocab.piece(token).decode(errors="replace")
