"""A loaded model as the routes see it: names, defaults, and what it says of itself."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from ferrox_gguf import __version__
from ferrox_gguf.runtime.lanes import ReadingLanes
from ferrox_gguf.runtime.load import Assembled, assemble
from ferrox_gguf.runtime.voice import Voices, token_text
from ferrox_gguf.server.state import Ready
from ferrox_gguf.settings import Settings
from ferrox_gguf.template.capabilities import Arguments
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
    description, reading = describe(settings, assembled), assembled.reading
    if reading is None:
        return Ready(assembled.model, served, description, assembled.close, assembled.engine)
    lanes = ReadingLanes(assembled.engine, reading.embedder)
    return Ready(assembled.model, served, description, assembled.close, lanes, reading.embeddings)


def served_name(settings: Settings) -> str:
    """The first alias in alphabetical order, as llama-server chooses it; the file's name when there is none."""
    return min(settings.model.aliases, default=Path(settings.model.path).name)


def describe(settings: Settings, assembled: Assembled) -> ModelDescription:
    model, vocabulary, context = assembled.loaded.model, assembled.loaded.vocab, assembled.loaded.context
    voices = assembled.model.voices
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
        template=voices.choice.source,
        template_tools=voices.choice.tool_use or "",
        template_caps=capabilities(voices),
        bos=token_text(vocabulary, vocabulary.bos),
        eos=token_text(vocabulary, vocabulary.eos),
        created=int(time.time()),
    )


def capabilities(voices: Voices) -> tuple[tuple[str, bool], ...]:
    """What the template takes, under llama-server's names."""
    renderer = voices.tools.renderer
    takes = renderer.capabilities
    return (
        ("supports_string_content", takes.string_content),
        ("supports_typed_content", "user" in takes.part_roles),
        ("supports_tools", takes.tools),
        ("supports_tool_calls", takes.tool_calls),
        ("supports_parallel_tool_calls", takes.parallel_calls),
        ("supports_system_role", takes.system_role),
        ("supports_preserve_reasoning", takes.reasoning_field is not None),
        ("supports_reasoning_effort", renderer.switches.takes_effort),
        ("supports_object_arguments", takes.arguments is Arguments.OBJECT),
    )
