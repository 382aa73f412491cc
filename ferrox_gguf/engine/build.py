"""An engine over a loaded model: reads the layout off the context and puts the parts together."""

from __future__ import annotations

from ferrox_gguf.engine.executor import LlamaExecutor
from ferrox_gguf.engine.layout import Layout
from ferrox_gguf.engine.loop import QUEUE_SIZE, EngineLoop
from ferrox_gguf.llama.loaded import LoadedModel
from ferrox_gguf.llama.room import room_cells


def layout_of(
    loaded: LoadedModel,
    *,
    context_shift: bool = False,
    step_budget_ms: float = 100.0,
    cache_ram_mib: int = 8192,
    clear_idle: bool = False,
    similarity: float = 0.1,
    checkpoints: int = 32,
    checkpoint_step: int = 8192,
) -> Layout:
    """What this context offers to the scheduler. cache_ram_mib: -1 no limit, 0 none."""
    context, vocab = loaded.context, loaded.vocab
    traits = context.memory.traits
    return Layout(
        n_slots=context.n_slots,
        n_cells=traits.n_cells,
        shares_cells=traits.shares_cells,
        slot_context=context.slot_context,
        n_batch=context.n_batch,
        n_ubatch=context.n_ubatch,
        window=traits.window,
        recurrent=traits.recurrent,
        can_shift=traits.can_shift,
        end_tokens=vocab.end_tokens,
        context_shift=context_shift,
        adds_bos=vocab.adds_bos,
        step_budget_ms=step_budget_ms,
        cache_bytes=cache_ram_mib if cache_ram_mib <= 0 else cache_ram_mib << 20,
        clear_idle=clear_idle,
        room=room_cells(loaded),
        similarity=similarity,
        checkpoints=checkpoints,
        checkpoint_step=checkpoint_step,
    )


def build_engine(
    loaded: LoadedModel,
    *,
    context_shift: bool = False,
    step_budget_ms: float = 100.0,
    cache_ram_mib: int = 8192,
    clear_idle: bool = False,
    similarity: float = 0.1,
    checkpoints: int = 32,
    checkpoint_step: int = 8192,
    queue_size: int = QUEUE_SIZE,
) -> EngineLoop:
    """The engine of one model, not started yet. It alone may use loaded.context from now on."""
    return EngineLoop(
        LlamaExecutor(loaded),
        layout_of(
            loaded,
            context_shift=context_shift,
            step_budget_ms=step_budget_ms,
            cache_ram_mib=cache_ram_mib,
            clear_idle=clear_idle,
            similarity=similarity,
            checkpoints=checkpoints,
            checkpoint_step=checkpoint_step,
        ),
        n_vocab=loaded.vocab.n_tokens,
        n_adapters=len(loaded.adapters),
        queue_size=queue_size,
        generates=loaded.context.memory.exists,
    )
