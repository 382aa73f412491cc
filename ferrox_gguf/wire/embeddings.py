"""Embeddings: OpenAI's `/v1/embeddings` and llama-server's `/embeddings`, one request read for both."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import orjson
from numpy.typing import NDArray

from ferrox_gguf.errors import InvalidField, MediaNotSupported
from ferrox_gguf.json_types import Json, JsonObject
from ferrox_gguf.request import Prompt
from ferrox_gguf.wire.fields import integer, kind, string
from ferrox_gguf.wire.messages import MEDIA_PARTS

EUCLIDEAN = 2
"""`embd_normalize` where nobody says otherwise: the Euclidean norm."""


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """normalize: -1 none, 0 to the range of 16-bit integers, 1 taxicab, 2 Euclidean, more: that p-norm.

    dimensions: leading numbers kept (Matryoshka), 0 all.  native: the client used llama-server's own `content`.
    """

    inputs: tuple[Prompt, ...]
    base64: bool = False
    dimensions: int = 0
    normalize: int = EUCLIDEAN
    native: bool = False


def parse_embeddings(body: JsonObject, *, normalize: int = EUCLIDEAN) -> EmbeddingRequest:
    name = "input" if "input" in body else "content"
    if name not in body:
        raise InvalidField("input", 'is required ("input", or llama-server\'s "content")')
    encoding = string(body, "encoding_format", "float")
    if encoding not in ("float", "base64"):
        raise InvalidField("encoding_format", 'must be "float" or "base64"')
    return EmbeddingRequest(
        inputs=parse_inputs(body[name], name),
        base64=encoding == "base64",
        dimensions=integer(body, "dimensions", 0, 1) if body.get("dimensions") is not None else 0,
        normalize=integer(body, "embd_normalize", normalize, -1),
        native=name == "content",
    )


def parse_inputs(value: Json, name: str) -> tuple[Prompt, ...]:
    """One input or many: text, ids, a mix of both, or an object with text parts."""
    if isinstance(value, list):
        if not value:
            raise InvalidField(name, "must not be empty")
        if not is_mixed(value) or all(isinstance(item, str) for item in value):
            return tuple(parse_one(item, f"{name}[{at}]") for at, item in enumerate(value))
    return (parse_one(value, name),)


def parse_one(value: Json, path: str) -> Prompt:
    if isinstance(value, str):
        return Prompt((value,))
    if isinstance(value, list) and value and is_mixed(value):
        return Prompt(tuple(item for item in value if isinstance(item, (str, int))))
    if isinstance(value, dict):
        return Prompt((object_text(value, path),))
    raise InvalidField(path, f"must be a string, token ids, or an object with content, not {kind(value)}")


def is_mixed(value: list[Json]) -> bool:
    """Ids and strings side by side are one input; a bool is no id."""
    return all(isinstance(item, (str, int)) and not isinstance(item, bool) for item in value)


def object_text(value: dict[str, Json], path: str) -> str:
    if isinstance(text := value.get("prompt_string"), str):
        return text
    parts = value.get("content")
    if not isinstance(parts, list) or not parts:
        raise InvalidField(f"{path}.content", "must be an array of parts")
    texts = []
    for part in parts:
        name = part.get("type") if isinstance(part, dict) else None
        if isinstance(name, str) and name in MEDIA_PARTS:
            raise MediaNotSupported(MEDIA_PARTS[name])
        if not isinstance(part, dict) or name != "text" or not isinstance(part.get("text"), str):
            raise InvalidField(f"{path}.content", 'must hold parts of type "text"')
        texts.append(string(part, "text"))
    return "".join(texts)


# -- answers

Vectors = NDArray[np.float32]


def normalized(vectors: Vectors, mode: int) -> Vectors:
    """Each row scaled by `embd_normalize`'s rule; a row of zeros stays."""
    if mode < 0:
        return vectors
    wide = vectors.astype(np.float64)
    if mode == 0:
        size = np.max(np.abs(wide), axis=1, keepdims=True) / 32760.0
    elif mode == EUCLIDEAN:
        size = np.sqrt(np.sum(wide * wide, axis=1, keepdims=True))
    else:
        size = np.sum(np.abs(wide) ** mode, axis=1, keepdims=True) ** (1.0 / mode)
    scaled: Vectors = np.divide(wide, size, out=np.zeros_like(wide), where=size > 0).astype(np.float32)
    return scaled


def shaped(vectors: Vectors, request: EmbeddingRequest, *, pooled: bool) -> Vectors:
    """What the client asked for of one input's vectors. Without pooling, llama-server never normalises."""
    if request.dimensions:
        vectors = vectors[:, : request.dimensions]
    return np.ascontiguousarray(normalized(vectors, request.normalize) if pooled else vectors)


def openai_body(results: Sequence[Vectors], request: EmbeddingRequest, model: str, tokens: int) -> bytes:
    data = [
        {"object": "embedding", "index": index, "embedding": encoded(vectors[0], request.base64)}
        for index, vectors in enumerate(results)
    ]
    body = {
        "object": "list",
        "data": data,
        "model": model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)


def native_body(results: Sequence[Vectors]) -> bytes:
    """llama-server's own: a list, each with one vector or one a token."""
    body = [{"index": index, "embedding": vectors} for index, vectors in enumerate(results)]
    return orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)


def encoded(vector: NDArray[np.float32], as_base64: bool) -> str | NDArray[np.float32]:
    """base64: the little-endian 32-bit floats, as OpenAI sends them."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode() if as_base64 else vector
