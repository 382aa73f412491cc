"""Token probabilities as clients read them: llama-server's list, which is OpenAI's `logprobs.content` with ids."""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.events import Candidate, TokenInfo
from ferrox_gguf.json_types import Json

LOWEST = -3.4028234663852886e38
"""The logarithm of zero, as JSON can carry it: the lowest 32-bit float, as llama-server sends."""


def probabilities_json(infos: Sequence[TokenInfo], after_sampling: bool) -> list[Json]:
    """after_sampling: the numbers are probabilities, not logarithms (`post_sampling_probs`)."""
    top = "top_probs" if after_sampling else "top_logprobs"
    return [
        {**candidate_json(info.chosen, after_sampling), top: [candidate_json(c, after_sampling) for c in info.top]}
        for info in infos
    ]


def candidate_json(candidate: Candidate, after_sampling: bool) -> dict[str, Json]:
    """token: the bytes as text, without a character that the next token completes."""
    value = candidate.logprob if after_sampling else max(candidate.logprob, LOWEST)
    return {
        "id": candidate.token,
        "token": candidate.text_bytes.decode(errors="ignore"),
        "bytes": list(candidate.text_bytes),
        "prob" if after_sampling else "logprob": value,
    }


def legacy_logprobs_json(infos: Sequence[TokenInfo], offset: int, after_sampling: bool) -> dict[str, Json]:
    """`/v1/completions`: OpenAI's four parallel lists, and llama-server's `content` beside them.

    offset: where the first token's text stands in the answer, in characters.
    """
    tokens, offsets = [], []
    for info in infos:
        tokens.append(token_name(info.chosen.text_bytes))
        offsets.append(offset)
        offset += len(info.chosen.text_bytes.decode(errors="ignore"))
    return {
        "content": probabilities_json(infos, after_sampling),
        "tokens": list[Json](tokens),
        "token_logprobs": [max(info.chosen.logprob, LOWEST) for info in infos],
        "top_logprobs": [{token_name(c.text_bytes): max(c.logprob, LOWEST) for c in info.top} for info in infos],
        "text_offset": list[Json](offsets),
    }


def token_name(piece: bytes) -> str:
    """A token as text. A part of a character in OpenAI's spelling: several that were all "" would hide each other."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in piece)
