"""`/slots`: what each lane is doing, without a word of what its client said, and what became of its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ferrox_gguf.engine.contract import SequenceRequest
from ferrox_gguf.engine.snapshot import SlotFile
from ferrox_gguf.engine.stats import SlotSnapshot
from ferrox_gguf.json_types import Json
from ferrox_gguf.request import Generation
from ferrox_gguf.wire.settings_json import short_settings


def slots_json(slots: Sequence[SlotSnapshot]) -> list[Json]:
    return [slot_json(slot) for slot in slots]


def slot_json(slot: SlotSnapshot) -> dict[str, Json]:
    shown: dict[str, Json] = {
        "id": slot.id,
        "n_ctx": slot.n_ctx,
        "speculative": False,
        "is_processing": slot.is_processing,
    }
    if slot.request is None:
        return shown
    return {
        **shown,
        "id_task": slot.handle,
        "n_prompt_tokens": slot.n_tokens,
        "n_prompt_tokens_processed": slot.n_read,
        "n_prompt_tokens_cache": slot.n_cached,
        "params": short_settings(as_generation(slot.request, slot.seed)),
        "next_token": [
            {
                "has_next_token": slot.is_processing,
                "has_new_line": False,
                "n_remain": slot.n_remaining if slot.is_processing else -1,
                "n_decoded": slot.n_decoded if slot.is_processing else 0,
            }
        ],
    }


def as_generation(request: SequenceRequest, seed: int) -> Generation:
    return Generation(
        sampling=replace(request.sampling, seed=seed),
        max_tokens=request.max_tokens,
        n_probs=request.n_probs,
        post_sampling_probs=request.post_sampling_probs,
        n_keep=request.n_keep,
        n_discard=request.n_discard,
        lora=request.lora,
    )


def saved_json(slot: int, name: str, file: SlotFile) -> dict[str, Json]:
    return {
        "id_slot": slot,
        "filename": name,
        "n_saved": file.n_tokens,
        "n_written": file.n_bytes,
        "timings": {"save_ms": file.ms},
    }


def restored_json(slot: int, name: str, file: SlotFile) -> dict[str, Json]:
    return {
        "id_slot": slot,
        "filename": name,
        "n_restored": file.n_tokens,
        "n_read": file.n_bytes,
        "timings": {"restore_ms": file.ms},
    }


def erased_json(slot: int, n_tokens: int) -> dict[str, Json]:
    return {"id_slot": slot, "n_erased": n_tokens}
