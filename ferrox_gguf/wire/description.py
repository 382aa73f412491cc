"""What the server says about itself: `/props` and `/models`."""

from __future__ import annotations

from dataclasses import dataclass

from ferrox_gguf.json_types import Json
from ferrox_gguf.posture.values import Posture
from ferrox_gguf.settings import Settings
from ferrox_gguf.wire.served import Served
from ferrox_gguf.wire.settings_json import short_settings

MEDIA_MARKER = "<__media__>"
"""Where an image would go; no model here takes one yet, but clients read the field."""


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """Facts of the loaded model that clients can read. Sizes in tokens, bytes and weights.

    context_tokens: what one request may use.  template_tools: the file's own variant for tools, "" when it has none.
    vocab_type: llama.cpp's number for the kind of tokenizer.
    """

    path: str
    file_type: str
    context_tokens: int
    trained_tokens: int
    n_vocab: int
    n_embd: int
    parameters: int
    size: int
    vocab_type: int
    template: str
    bos: str
    eos: str
    template_tools: str = ""
    template_caps: tuple[tuple[str, bool], ...] = ()
    created: int = 0


def props_json(
    served: Served, model: ModelDescription, posture: Posture, settings: Settings, *, sleeping: bool = False
) -> dict[str, Json]:
    endpoints = settings.server.endpoints
    props: dict[str, Json] = {
        "default_generation_settings": {"params": short_settings(served.defaults), "n_ctx": model.context_tokens},
        "total_slots": served.n_parallel,
        "model_alias": served.name,
        "model_ftype": model.file_type,
        "model_path": model.path,
        "modalities": {"vision": False, "video": False, "audio": False},
        "media_marker": MEDIA_MARKER,
        "endpoint_slots": endpoints.slots,
        "endpoint_props": endpoints.props,
        "endpoint_metrics": endpoints.metrics,
        "ui": settings.server.ui,
        "ui_settings": {},
        "chat_template": model.template,
        "chat_template_caps": dict(model.template_caps),
        "bos_token": model.bos,
        "eos_token": model.eos,
        "build_info": served.fingerprint,
        "is_sleeping": sleeping,
        "cors_proxy_enabled": False,
        "posture": posture_json(posture),
    }
    if model.template_tools:
        props["chat_template_tool_use"] = model.template_tools
    return props


def posture_json(posture: Posture) -> dict[str, Json]:
    """How this model speaks, and how that is known."""
    return {
        "family": posture.family,
        "reasoning_format": posture.reasoning.name if posture.reasoning else None,
        "reasoning_protocol": posture.protocol.value,
        "tool_format": posture.tool_format,
        "evidence": list(posture.evidence),
    }


def models_json(served: Served, model: ModelDescription, settings: Settings) -> dict[str, Json]:
    """OpenAI's list of one model, and Ollama's beside it as llama-server has it."""
    return {
        "models": [ollama_json(served.name)],
        "object": "list",
        "data": [
            {
                "id": served.name,
                "aliases": list[Json](sorted(settings.model.aliases)),
                "tags": list[Json](sorted(settings.model.tags)),
                "object": "model",
                "created": model.created,
                "owned_by": "llamacpp",
                "meta": {
                    "vocab_type": model.vocab_type,
                    "n_vocab": model.n_vocab,
                    "n_ctx": model.context_tokens,
                    "n_ctx_train": model.trained_tokens,
                    "n_embd": model.n_embd,
                    "n_params": model.parameters,
                    "size": model.size,
                    "ftype": model.file_type,
                },
            }
        ],
    }


def ollama_json(name: str) -> dict[str, Json]:
    return {
        "name": name,
        "model": name,
        "modified_at": "",
        "size": "",
        "digest": "",
        "type": "model",
        "description": "",
        "tags": [""],
        "capabilities": ["completion"],
        "parameters": "",
        "details": {
            "parent_model": "",
            "format": "gguf",
            "family": "",
            "families": [""],
            "parameter_size": "",
            "quantization_level": "",
        },
    }
