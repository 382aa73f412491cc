"""What the scheduler may hand out: the sizes and the abilities of one context, as a frozen value."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Layout:
    """Sizes in tokens.

    n_cells: the cache over all slots; 0: it does not grow with tokens.  slot_context: what one request may use.
    shares_cells: all slots have one cache; else each has its own of slot_context cells, and a shared prefix is copied.
    n_batch: rows of one decode; n_ubatch: prompt tokens of one step at most.
    window, recurrent, can_shift: as in llama.memory.MemoryTraits.  end_tokens: ids that end generation.
    context_shift: go on past slot_context by forgetting early tokens.  adds_bos: the prompt's first token is BOS.
    step_budget_ms: what a step should take while answers are being written.
    cache_bytes: state of evicted prompts kept in memory; -1 no limit, 0 none.
    clear_idle: move what idle slots hold to that memory when it outweighs what runs.
    room: tokens that the context beside the main one holds, where short prompts are read together; 0: there is none.
    similarity: share of a prompt that an idle slot must hold to be taken over for it.
    checkpoints: kept a slot, when memory cannot be cut; 0 none.  checkpoint_step: tokens between regular ones.
    """

    n_slots: int
    n_cells: int
    slot_context: int
    shares_cells: bool = True
    n_batch: int = 2048
    n_ubatch: int = 512
    window: int = 0
    recurrent: bool = False
    can_shift: bool = True
    end_tokens: frozenset[int] = field(default_factory=frozenset)
    context_shift: bool = False
    adds_bos: bool = False
    step_budget_ms: float = 100.0
    cache_bytes: int = 0
    clear_idle: bool = False
    room: int = 0
    similarity: float = 0.1
    checkpoints: int = 0
    checkpoint_step: int = 8192

    @property
    def can_cut(self) -> bool:
        """May any slot be cut anywhere?"""
        return not self.recurrent and not self.window
