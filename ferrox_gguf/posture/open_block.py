"""How the prompt left the reasoning block: open, closed or unopened (wire formats, section 0 and 2.2; P2).

Looked for only in what the template added for this turn, so that a marker quoted by a user opens nothing.
"""

from __future__ import annotations

from ferrox_gguf.posture.values import BlockState, ReasoningFormat, ReasoningStyle


def block_state(added: str, reasoning: ReasoningFormat | None) -> BlockState:
    """Read the state off the text that the template added.

    ATEM: OPEN means that the prompt stopped inside a message header. Harmony's channels are always UNOPENED.
    """
    if reasoning is None or reasoning.style is ReasoningStyle.HARMONY:
        return BlockState.UNOPENED
    if reasoning.style is ReasoningStyle.ATEM:
        return BlockState.OPEN if added.rfind("<|start|>") > added.rfind("<|message|>") else BlockState.UNOPENED
    if reasoning.style is ReasoningStyle.DELIMITER:
        return BlockState.CLOSED if reasoning.closer in added else BlockState.OPEN
    opener, closer = opener_at(added, reasoning), closer_at(added, reasoning)
    if opener > closer:
        return BlockState.OPEN
    if closer >= 0 or answer_at(added, reasoning) >= 0:
        return BlockState.CLOSED
    return BlockState.UNOPENED


def last_turn(prompt: str, header: str) -> str:
    """What stands behind the last turn's header: of a whole prompt, all that may open the block.

    header: what the template writes before every answer; "" when it is not known, then the whole prompt counts.
    """
    at = prompt.rfind(header) if header else -1
    return prompt[at + len(header) :] if at >= 0 else prompt


def opener_at(added: str, reasoning: ReasoningFormat) -> int:
    """Where the last opener begins, -1 for none. Layout around a marker is the template's own affair."""
    return added.rfind(reasoning.opener.strip()) if reasoning.opener else -1


def closer_at(added: str, reasoning: ReasoningFormat) -> int:
    """Where the last closer begins, -1 for none. A closer that also ends other segments counts after an opener only."""
    at = added.rfind(reasoning.closer.strip())
    return -1 if reasoning.header and opener_at(added, reasoning) < 0 else at


def answer_at(added: str, reasoning: ReasoningFormat) -> int:
    """Where the answer's own wrapper was opened, -1 for nowhere (Kimi K3 without thinking)."""
    return added.rfind(reasoning.wrapper[0].strip()) if reasoning.wrapper else -1
