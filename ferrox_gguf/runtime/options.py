"""Settings → what `llama/` wants: the same decisions, in that room's own types."""

from __future__ import annotations

from dataclasses import replace

from ferrox_gguf.llama.options import (
    CacheType,
    ControlVectorFile,
    FlashAttention,
    LazyMode,
    LoadMode,
    LoraFile,
    ModelOptions,
    Numa,
    Pooling,
    Rope,
    RopeScaling,
    SplitMode,
)
from ferrox_gguf.settings import RopeSettings, Settings

PACKED = 64
"""Inputs of one embedding batch. Their cells last for one batch, so this is no `-np`: it costs a bit in a mask."""

STORED_POOLINGS = (Pooling.NONE, Pooling.MEAN, Pooling.CLS, Pooling.LAST, Pooling.RANK)
"""By the number under which a GGUF stores them."""

WHOLE_INPUT = (Pooling.NONE, Pooling.MEAN, Pooling.CLS)
"""Poolings that need all of an input at once: the cache never holds more than a batch."""


def model_options(settings: Settings) -> ModelOptions:
    """How to load the file and make the context that generates."""
    model, context, adapters = settings.model, settings.context, settings.adapters
    return ModelOptions(
        path=model.path,
        n_gpu_layers=model.n_gpu_layers,
        n_ctx=context.n_ctx,
        n_batch=context.n_batch,
        n_ubatch=context.n_ubatch,
        n_parallel=context.n_parallel,
        kv_unified=context.kv_unified,
        n_ctx_per_slot=context.n_ctx_per_slot,
        n_threads=context.cpu.n_threads,
        n_threads_batch=context.cpu_batch.n_threads,
        cache_type_k=CacheType(context.cache_type_k),
        cache_type_v=CacheType(context.cache_type_v),
        flash_attention=FlashAttention(context.flash_attention),
        swa_full=context.swa_full,
        rope=rope(context.rope),
        load_mode=LoadMode(model.load_mode),
        lazy_mode=LazyMode(model.lazy_mode),
        split_mode=SplitMode(model.split_mode),
        main_gpu=model.main_gpu,
        tensor_split=model.tensor_split,
        devices=model.devices,
        tensor_buffers=model.tensor_buffers,
        override_kv=model.override_kv,
        check_tensors=model.check_tensors,
        repack=model.repack,
        no_host=model.no_host,
        kv_offload=context.kv_offload,
        op_offload=model.op_offload,
        lora=tuple(LoraFile(one.path, one.scale if adapters.lora_apply else 0.0) for one in adapters.lora),
        control_vectors=tuple(ControlVectorFile(one.path, one.scale) for one in adapters.control_vectors),
        control_vector_layers=adapters.control_vector_layers,
        numa=Numa(model.numa),
        warmup=model.warmup,
    )


def reading_options(settings: Settings, slot_context: int, stored_pooling: int) -> ModelOptions:
    """The context that reads for embeddings. slot_context: tokens that one request may have."""
    embedding, options = settings.embedding, model_options(settings)
    pooling = Pooling.RANK if embedding.reranking else Pooling(embedding.pooling)
    if pooling is Pooling.MODEL and 0 <= stored_pooling < len(STORED_POOLINGS):
        pooling = STORED_POOLINGS[stored_pooling]
    return replace(
        options,
        embeddings=True,
        pooling=pooling,
        n_ctx=min(slot_context, options.n_ubatch) if pooling in WHOLE_INPUT else slot_context,
        n_parallel=PACKED,
        kv_unified=True,
        n_ctx_per_slot=0,
    )


def rope(settings: RopeSettings) -> Rope:
    """`--rope-scale` is how many times longer, llama.cpp's frequency scale its inverse; the explicit one wins."""
    scale = settings.frequency_scale or (1 / settings.scale if settings.scale > 0 else 0.0)
    return Rope(
        scaling=RopeScaling(settings.scaling),
        frequency_base=settings.frequency_base,
        frequency_scale=scale,
        yarn_original_context=settings.yarn_original_context,
        yarn_extrapolation=settings.yarn_extrapolation,
        yarn_attention=settings.yarn_attention,
        yarn_beta_fast=settings.yarn_beta_fast,
        yarn_beta_slow=settings.yarn_beta_slow,
    )
