"""Text on its way out of the model, with what the vocabulary says about the token behind it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class TokenKind(Enum):
    """llama.cpp's token attributes as far as reading output needs them. TEXT: raw text, no token known."""

    NORMAL = "normal"
    CONTROL = "control"
    USER_DEFINED = "user_defined"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Piece:
    """The certain text of one token (whole characters only, possibly empty).

    token: the id, -1 for raw text (the `parse` command).
    tokens: how many ids this piece stands for: 1, or 0 for the replacement of a character that never completed.
    """

    text: str
    kind: TokenKind = TokenKind.TEXT
    token: int = -1
    tokens: int = 1


class End(Enum):
    """How generation ended, as far as the parsers care.

    CUT: by a limit or a stop string: what is open stays open. DONE: by the model's own end of generation.
    """

    DONE = "done"
    CUT = "cut"
