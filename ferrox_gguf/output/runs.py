"""What the reasoning split says of the text: every character, once, in order."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeAlias


class RunKind(Enum):
    """What a run of characters is.

    THOUGHT: text of the thought.  MARKUP: what delimits a thought, white space around it included; both count as
    reasoning tokens.  ANSWER: everything that may hold content and calls.  LAYOUT: around the answer, not shown.
    HEADER: addresses a message of a channel grammar, not shown.  CALL: no text of the model's, but what a channel
    grammar says to its call syntax (see `channels/envelope.py`).
    """

    THOUGHT = "thought"
    MARKUP = "markup"
    ANSWER = "answer"
    LAYOUT = "layout"
    HEADER = "header"
    CALL = "call"


Sink: TypeAlias = Callable[[RunKind, str], None]
"""Called for each run in the text's order, while the splitter reads: what is downstream is as far as the text is."""


class Phase(Enum):
    """Where the output stands. BEFORE: nothing but white space, or a part of a marker, was written yet."""

    BEFORE = "before"
    THINKING = "thinking"
    ANSWERING = "answering"
