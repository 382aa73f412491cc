"""Served models without llama.cpp: bytes for tokens, a script for an engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from support.scripted import ByteVocabulary, ScriptedEngine

from ferrox_gguf.engine.contract import SequenceRequest
from ferrox_gguf.posture.values import Posture
from ferrox_gguf.request import Generation
from ferrox_gguf.runtime.model import ServedModel
from ferrox_gguf.runtime.raw_reader import RawReader
from ferrox_gguf.server.state import Ready
from ferrox_gguf.wire.description import ModelDescription
from ferrox_gguf.wire.served import Served

AIDE = ThreadPoolExecutor(1)


async def close() -> None:
    """There is nothing to free."""


def scripted_ready(
    script: Callable[[SequenceRequest], Sequence[int]] | Sequence[int],
    *,
    vocabulary: ByteVocabulary | None = None,
    generation: Generation | None = None,
    n_ctx: int = 4096,
    n_parallel: int = 4,
) -> Ready:
    """A model that answers every prompt with the script (or with what the script makes of the request)."""
    vocabulary = vocabulary or ByteVocabulary()
    play = script if callable(script) else lambda request: script
    model = ServedModel(
        vocabulary=vocabulary,
        engine=ScriptedEngine(play, n_ctx),
        raw_reader=lambda generation: RawReader(vocabulary.piece, generation.stop),
        aside=AIDE,
    )
    served = Served(
        name="scripted",
        fingerprint="b1-test",
        defaults=generation or Generation(),
        tokenise=lambda text: vocabulary.tokenize(text, add_special=False, parse_special=False),
        n_vocab=vocabulary.n_tokens,
        end_tokens=tuple(vocabulary.end_tokens),
        n_parallel=n_parallel,
    )
    description = ModelDescription(
        "scripted.gguf", "F32", n_ctx, n_ctx, vocabulary.n_tokens, 1, 1, 1, 1, "", "<s>", "</s>"
    )
    return Ready(model, served, description, Posture(), close)
