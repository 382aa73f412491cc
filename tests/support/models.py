"""Served models without llama.cpp: bytes for tokens, a script for an engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from support.lanes import ScriptedLanes
from support.scripted import ByteVocabulary, ScriptedEngine

from ferrox_gguf.engine.contract import SequenceRequest
from ferrox_gguf.gguf import FileFacts
from ferrox_gguf.grammar.compiler import GrammarCompiler
from ferrox_gguf.runtime.constraints import Constraints
from ferrox_gguf.runtime.model import ServedModel
from ferrox_gguf.runtime.voice import make_voices
from ferrox_gguf.server.state import Ready
from ferrox_gguf.settings import Settings
from ferrox_gguf.wire.description import ModelDescription
from ferrox_gguf.wire.served import Served

ASIDE = ThreadPoolExecutor(1)

PLAIN = (
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
"""A template of a model that neither thinks nor calls."""

THINKS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
)
"""A template that opens the thought itself."""


async def close() -> None:
    """There is nothing to free."""


def scripted_ready(
    script: Callable[[SequenceRequest], Sequence[int]] | Sequence[int],
    *,
    vocabulary: ByteVocabulary | None = None,
    template: str = PLAIN,
    settings: Settings | None = None,
    n_ctx: int = 4096,
    n_parallel: int = 4,
) -> Ready:
    """A model that answers every prompt with the script (or with what the script makes of the request)."""
    vocabulary, settings = vocabulary or ByteVocabulary(), settings or Settings()
    engine = ScriptedEngine(script if callable(script) else lambda request: script, n_ctx)
    no_compiler: Future[GrammarCompiler] = Future()
    model = ServedModel(
        settings=settings,
        vocabulary=vocabulary,
        engine=engine,
        voices=make_voices(FileFacts("scripted.gguf", "llama", chat_template=template), vocabulary, settings.chat),
        constraints=Constraints(vocabulary, no_compiler),
        aside=ASIDE,
    )
    served = Served(
        name="scripted",
        fingerprint="b1-test",
        defaults=settings.generation,
        tokenise=lambda text: vocabulary.tokenize(text, add_special=False, parse_special=False),
        n_vocab=vocabulary.n_tokens,
        end_tokens=tuple(vocabulary.end_tokens),
        n_parallel=n_parallel,
    )
    description = ModelDescription(
        path="scripted.gguf",
        file_type="F32",
        context_tokens=n_ctx,
        trained_tokens=n_ctx,
        n_vocab=vocabulary.n_tokens,
        n_embd=1,
        parameters=1,
        size=1,
        vocab_type=1,
        template=template,
        bos="<s>",
        eos="</s>",
    )
    return Ready(model, served, description, close, ScriptedLanes(n_ctx, n_parallel))
