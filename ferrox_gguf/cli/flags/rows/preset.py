"""One flag that chooses a model and the settings that suit it. The values are llama-server's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ferrox_gguf.cli.flags.flag import Flag, Group, State
from ferrox_gguf.settings import Settings

Preset = Callable[[Settings, object], Settings]

OWNER = "ggml-org/"


def _from_repository(settings: Settings, repository: str, file: str, port: int) -> Settings:
    source = replace(settings.model.source, repository=OWNER + repository, file=file)
    return replace(settings, model=replace(settings.model, source=source), server=replace(settings.server, port=port))


def embedding_gemma(settings: Settings, value: object) -> Settings:
    """32 slots of 2048 tokens."""
    settings = _from_repository(
        settings, "embeddinggemma-300M-qat-q4_0-GGUF", "embeddinggemma-300M-qat-Q4_0.gguf", 8011
    )
    context = replace(settings.context, n_ubatch=2048, n_batch=2048, n_parallel=32, n_ctx=2048 * 32)
    return replace(settings, context=context, embedding=replace(settings.embedding, enabled=True))


def infill(model: str) -> Preset:
    """A model that fills gaps in code, for an editor: small batches, and prompts reused in pieces that moved."""

    def apply(settings: Settings, value: object) -> Settings:
        settings = _from_repository(settings, f"{model}-Q8_0-GGUF", f"{model.lower()}-q8_0.gguf", 8012)
        return replace(
            settings,
            context=replace(settings.context, n_ubatch=1024, n_batch=1024, n_ctx=0),
            generation=replace(settings.generation, n_cache_reuse=256),
        )

    return apply


def gpt_oss(repository: str, file: str) -> Preset:
    """Two slots of 131072 tokens, sampling as its makers recommend."""

    def apply(settings: Settings, value: object) -> Settings:
        settings = _from_repository(settings, repository, file, 8013)
        sampling = replace(settings.generation.sampling, temperature=1.0, top_p=1.0, top_k=0, min_p=0.01)
        return replace(
            settings,
            context=replace(settings.context, n_ubatch=2048, n_batch=32768, n_parallel=2, n_ctx=131072 * 2),
            generation=replace(settings.generation, sampling=sampling),
            sampling_given=settings.sampling_given | {"temperature", "top_p", "top_k", "min_p"},
        )

    return apply


def _preset(name: str, sets: Preset, help: str) -> Flag:
    return Flag(names=(name,), group=Group.PRESET, sets=sets, default="off", help=f"{help}; fetches its weights")


def _vision(name: str) -> Flag:
    return Flag(
        names=(name,),
        group=Group.PRESET,
        state=State.REFUSED,
        default="off",
        help="a Gemma 3 that sees",
        why="images are not read; -hf serves the same model for text",
    )


ROWS = (
    _preset("--embd-gemma-default", embedding_gemma, "EmbeddingGemma"),
    _preset("--fim-qwen-1.5b-default", infill("Qwen2.5-Coder-1.5B"), "Qwen 2.5 Coder 1.5B for /infill"),
    _preset("--fim-qwen-3b-default", infill("Qwen2.5-Coder-3B"), "Qwen 2.5 Coder 3B for /infill"),
    _preset("--fim-qwen-7b-default", infill("Qwen2.5-Coder-7B"), "Qwen 2.5 Coder 7B for /infill"),
    _preset("--fim-qwen-7b-spec", infill("Qwen2.5-Coder-7B"), "the same (without a draft model, which is not used)"),
    _preset("--fim-qwen-14b-spec", infill("Qwen2.5-Coder-14B"), "14B (without a draft model, which is not used)"),
    _preset("--fim-qwen-30b-default", infill("Qwen3-Coder-30B-A3B-Instruct"), "Qwen 3 Coder 30B A3B for /infill"),
    _preset("--gpt-oss-20b-default", gpt_oss("gpt-oss-20b-GGUF", "gpt-oss-20b-mxfp4.gguf"), "gpt-oss 20B"),
    _preset("--gpt-oss-120b-default", gpt_oss("gpt-oss-120b-GGUF", ""), "gpt-oss 120B"),
    _vision("--vision-gemma-4b-default"),
    _vision("--vision-gemma-12b-default"),
)
