"""What of a draw belongs to the answer, and whether the answer ends with it."""

from __future__ import annotations

from ferrox_gguf.engine.contract import Sampled
from ferrox_gguf.engine.layout import Layout
from ferrox_gguf.engine.plan import Drawn
from ferrox_gguf.engine.sequence import Sequence
from ferrox_gguf.events import StopType


def append(
    sequence: Sequence, drawn: Drawn, layout: Layout, *, can_shift: bool
) -> tuple[tuple[Sampled, ...], StopType]:
    """Append the drawn tokens to the sequence: those that are shown, and why generation ends (or NONE).

    The ending token itself is counted and not shown. can_shift: a full slot may forget early tokens and go on.
    """
    request = sequence.request
    for count, sampled in enumerate(drawn.sampled):
        token = sampled.token
        sequence.generated += 1
        if token in layout.end_tokens or token in request.stop_tokens:
            return drawn.sampled[:count], StopType.EOS
        sequence.tokens.append(token)
        if 0 <= request.max_tokens <= sequence.generated:
            return drawn.sampled[: count + 1], StopType.LIMIT
        if not can_shift and len(sequence.tokens) >= layout.slot_context:
            sequence.truncated = True
            return drawn.sampled[: count + 1], StopType.LIMIT
    if drawn.finished:
        return drawn.sampled, StopType.EOS
    if drawn.line_break and 0 < request.t_max_predict_ms < sequence.last_ms - sequence.first_ms:
        return drawn.sampled, StopType.LIMIT
    return drawn.sampled, StopType.NONE


def shift_sizes(sequence: Sequence, layout: Layout, held: int) -> tuple[int, int]:
    """(tokens kept, tokens forgotten after them) when a full slot shifts, by llama-server's rule.

    n_keep counts prompt tokens, -1 all of them, and BOS comes on top; n_discard 0 is half of the rest.
    """
    request = sequence.request
    keep = sequence.n_prompt if request.n_keep < 0 else request.n_keep
    keep = min(layout.slot_context - 4, keep + int(layout.adds_bos), held)
    left = held - keep
    discard = request.n_discard or left // 2
    return keep, max(0, min(discard, left - 1))
