"""The words in which a posture is said: frozen values, no decisions.

`known.py` holds the table of formats and families, `resolve.py` chooses, `output/` obeys.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ReasoningStyle(Enum):
    """How a thought is told from the answer."""

    PAIR = "pair"
    DELIMITER = "delimiter"
    HARMONY = "harmony"
    ATEM = "atem"


class ReasoningProtocol(Enum):
    """What is known of a template's reasoning (P1). UNKNOWN is not NONE."""

    UNKNOWN = "unknown"
    NONE = "none"
    PROMPT_OPENED = "prompt_opened"
    MODEL_GENERATED = "model_generated"


class BlockState(Enum):
    """How the rendered prompt left the reasoning block (wire formats, section 0, start of a block)."""

    OPEN = "open"
    CLOSED = "closed"
    UNOPENED = "unopened"


@dataclass(frozen=True, slots=True)
class ReasoningFormat:
    """One row of wire-formats section 1.

    opener, closer: byte exact, without layout white space except where the format's own marker has it (Gemma,
    Hunyuan A13B).  repeats: several blocks in one answer are all reasoning.
    wrapper: markers around the answer, dropped from content.
    ends_at: text that ends an open thought without being consumed by it (a missing closer).
    always_open: the family starts inside the block when there is no prompt to read.
    bare_closer: a leading closer without an opener means "no thought this turn".
    header: what opens each segment after the first (Solar), dropped like a marker.
    tail: markup that may close the message behind the answer (Kimi K3), dropped like the wrapper.
    """

    name: str
    style: ReasoningStyle = ReasoningStyle.PAIR
    opener: str = ""
    closer: str = ""
    repeats: bool = False
    wrapper: tuple[str, str] | None = None
    ends_at: tuple[str, ...] = ()
    always_open: bool = False
    bare_closer: bool = False
    header: str = ""
    tail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallMarkers:
    """How an unknown template writes calls, found by comparing renderings (wire-formats, section 5, steps 7 to 11).

    payload: "json" (name and arguments in one object), "name_json" (name in tags, JSON arguments), or "tagged".
    array: the objects stand in one list inside the section.  name_as_key: {"NAME": {…}}.
    Empty strings mean "not there"; layout white space is not part of a marker.
    """

    payload: str
    section_open: str = ""
    section_close: str = ""
    call_open: str = ""
    call_close: str = ""
    name_field: str = "name"
    arguments_field: str = "arguments"
    id_field: str = ""
    array: bool = False
    name_as_key: bool = False
    name_close: str = ""
    key_open: str = ""
    key_close: str = ""
    value_open: str = ""
    value_close: str = ""


@dataclass(frozen=True, slots=True)
class Posture:
    """How this model speaks.

    tool_format: a syntax of `output/tool_calls/`, "custom" with `call_markers`, or None (Hermes is still tried).
    calls_interrupt: a whole call inside an unclosed thought is a call (section 0, calls 8).
    string_stops: end markers that the model may spell as ordinary text.
    evidence: one sentence for each choice, in the order in which they were made.
    """

    reasoning: ReasoningFormat | None = None
    protocol: ReasoningProtocol = ReasoningProtocol.UNKNOWN
    tool_format: str | None = None
    call_markers: CallMarkers | None = None
    calls_interrupt: bool = False
    string_stops: tuple[str, ...] = ()
    family: str = "unknown"
    evidence: tuple[str, ...] = ()
