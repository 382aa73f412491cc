"""Finds how a template writes thoughts (wire-formats section 5, steps 3, 4 and 6).

Three witnesses, the best first: a past turn rendered with and without a thought; the generation prompt with thinking on
and off; and, for templates that only ever strip thoughts, a closer that the source itself mentions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ferrox_gguf.jinja import CompiledTemplate
from ferrox_gguf.json_types import Json
from ferrox_gguf.posture.differ.probe import SWITCHES, Probe
from ferrox_gguf.posture.differ.segments import difference, markers, segments, shared_start
from ferrox_gguf.posture.differ.words import ANSWER, QUESTION, THOUGHT
from ferrox_gguf.posture.known import REASONING
from ferrox_gguf.posture.values import ReasoningFormat, ReasoningStyle

CUSTOM = "custom"
"""The name of a format that no row of the table has."""

_NAMES_A_THOUGHT = re.compile(r"think|thought|reason|cot\b", re.IGNORECASE)
_LONGEST_MARKER = 80
_BY_FAMILY = (REASONING["minimax"], REASONING["deepseekv32"])
"""Rows that differ from another only in what a family does without a prompt, which no comparison can see."""


@dataclass(frozen=True, slots=True)
class ComparedThoughts:
    """format: one of the table when its markers are the same.  because: for the evidence."""

    format: ReasoningFormat
    because: str


def compare_reasoning(template: CompiledTemplate, variables: Mapping[str, Json]) -> ComparedThoughts | None:
    """The format, or None when no witness has seen one."""
    probe = Probe(template, variables)
    for witness, because in (
        (_in_history, "a past turn rendered with and without a thought"),
        (_by_switch, "the generation prompt rendered with thinking on and off"),
        (_in_prompt, "the generation prompt opens a block whose closer the template mentions"),
        (_in_source, "the template mentions both markers"),
    ):
        found = witness(probe)
        if found is not None:
            return ComparedThoughts(_known(found), f"{because} shows {_told(found)}")
    return None


def _in_history(probe: Probe) -> ReasoningFormat | None:
    for without, text in probe.thought():
        found = _around(without, text)
        if found is not None:
            return replace(found, wrapper=_wrapper(found, probe, text))
    return None


def _around(without: str, text: str) -> ReasoningFormat | None:
    """Opener and closer: what came with the thought, or (where an empty pair stands without it) what touches it."""
    changed = difference(without, text)
    if THOUGHT not in changed.right:
        return None
    before, _, after = (part.strip() for part in changed.right.partition(THOUGHT))
    if not before and not after:
        opener = _last(changed.before)
        closer = _first(changed.after.lstrip(), 1)
        alone = opener and closer and without.count(opener) == without.count(closer)
        return ReasoningFormat(CUSTOM, opener=opener, closer=closer) if alone and opener != closer else None
    closer = _first(after, max(1, len(markers(before))))
    if not _is_marker(closer):
        return None
    if not before and closing_of(standing := _last(changed.before)) == closer:
        before = standing  # an empty pair stood there, and only its inside changed
    if not _is_marker(before):
        # A marker came behind the thought and none before it: the delimiter is all there is.
        return ReasoningFormat(CUSTOM, style=ReasoningStyle.DELIMITER, closer=closer, always_open=True)
    return ReasoningFormat(CUSTOM, opener=before, closer=closer)


def _wrapper(found: ReasoningFormat, probe: Probe, text: str) -> tuple[str, str] | None:
    """The markers around the answer, where it has any: they stand between the thought's closer and the answer.

    A template that shows thoughts only beside calls is asked again with a plain answer, whose markers stand behind what
    the generation prompt writes.
    """
    if ANSWER in text and THOUGHT in text:
        return _around_answer(found, text[text.rindex(THOUGHT) + len(THOUGHT) :].partition(found.closer)[2])
    answered, prompt = probe.answered(), probe.prompt(SWITCHES[0][0])
    if answered is None or prompt is None:
        return None
    behind = segments(answered.rpartition(QUESTION)[2])
    return _around_answer(found, "".join(behind[shared_start(behind, segments(prompt)) :]))


def _around_answer(found: ReasoningFormat, text: str) -> tuple[str, str] | None:
    before, answer, after = text.partition(ANSWER)
    empty_thought = f"{found.opener}{found.closer}"
    opener, closer = before.strip().removeprefix(empty_thought), _first(after.strip(), 1)
    return (opener, closer) if answer and _is_marker(opener) and closer else None


def _by_switch(probe: Probe) -> ReasoningFormat | None:
    """On and off differ in an opener, in a block that stands closed, or in both."""
    for switched_on, switched_off in SWITCHES:
        on, off = probe.prompt(switched_on), probe.prompt(switched_off)
        if on is None or off is None or on == off:
            continue
        changed = difference(off, on)
        opened, closed = markers(changed.right), markers(changed.left + changed.after)
        if changed.right and opened and closing_of(opened[-1]) in closed + markers(probe.source):
            return ReasoningFormat(CUSTOM, opener=opened[-1], closer=closing_of(opened[-1]))
        pair = markers(off)[-2:]
        if len(pair) == 2 and (closing_of(pair[0]) == pair[1] or _NAMES_A_THOUGHT.search(pair[0])):
            return ReasoningFormat(CUSTOM, opener=pair[0], closer=pair[1])
        if closed and (bare := opening_of(closed[-1])) and _NAMES_A_THOUGHT.search(bare):
            return ReasoningFormat(CUSTOM, opener=bare, closer=closed[-1])
    return None


def _in_prompt(probe: Probe) -> ReasoningFormat | None:
    prompt = probe.prompt(SWITCHES[0][0])
    last = _last(prompt or "")
    if _NAMES_A_THOUGHT.search(last) and (closer := closing_of(last)):
        return ReasoningFormat(CUSTOM, opener=last, closer=closer)
    return None


def _in_source(probe: Probe) -> ReasoningFormat | None:
    """Old templates cut thoughts out of the history, and mention their markers only to find them."""
    mentioned = set(re.findall(r"</?[\w:|▁-]+>|\[/?[A-Z_]+\]", probe.source))
    for opener in sorted(mentioned):
        closer = closing_of(opener)
        if _NAMES_A_THOUGHT.search(opener) and closer and (closer in mentioned or f"</{opener[1:]}" in probe.source):
            return ReasoningFormat(CUSTOM, opener=opener, closer=closer)
    for closer in sorted(mentioned):
        opener = opening_of(closer)
        if opener and _NAMES_A_THOUGHT.search(opener):
            return ReasoningFormat(CUSTOM, opener=opener, closer=closer)
    return ReasoningFormat(CUSTOM, opener="<think>", closer="</think>") if "<think>" in mentioned else None


def closing_of(marker: str) -> str:
    """The marker that would close this one, spelled as such pairs are; "" for one that is itself a closer."""
    if marker.startswith(("</", "[/")):
        return ""
    if re.fullmatch(r"<[\w:▁-]+>", marker):
        return f"</{marker[1:]}"
    if re.fullmatch(r"\[[\w:-]+\]", marker):
        return f"[/{marker[1:]}"
    for begin, end in (("START", "END"), ("begin", "end"), ("start", "end"), ("prefix", "suffix"), ("open", "close")):
        if begin in marker:
            return marker.replace(begin, end, 1)
    return ""


def opening_of(marker: str) -> str:
    """The marker that this one would close; "" for one that is no closer."""
    return marker[0] + marker[2:] if marker.startswith(("</", "[/")) else ""


def _last(text: str) -> str:
    """The marker that the text ends with (white space behind it does not count), or ""."""
    parts = segments(text.rstrip())
    return parts[-1] if parts and _is_marker(parts[-1]) else ""


def _first(text: str, count: int) -> str:
    """The text from its beginning to the end of its count-th marker; "" when it does not begin with one."""
    parts = segments(text)
    if not parts or not _is_marker(parts[0]):
        return ""
    taken, left = "", count
    for part in parts:
        taken += part
        left -= _is_marker(part)
        if not left:
            return taken
    return ""


def _is_marker(text: str) -> bool:
    return bool(text) and len(text) <= _LONGEST_MARKER and bool(markers(text)) and "\n" not in text.strip()


def _known(found: ReasoningFormat) -> ReasoningFormat:
    """The row of the table with the same markers around thought and answer, under its own name."""
    for row in REASONING.values():
        plain = (
            row.opener.strip(),
            row.closer.strip(),
            row.wrapper and (row.wrapper[0].strip(), row.wrapper[1].strip()),
        )
        if plain == (found.opener, found.closer, found.wrapper) and row.style is found.style and row not in _BY_FAMILY:
            return row
    return found


def _told(found: ReasoningFormat) -> str:
    pair = f"`{found.opener}` … `{found.closer}`" if found.opener else f"thoughts up to `{found.closer}`"
    return f"{pair}, answers in `{found.wrapper[0]}` … `{found.wrapper[1]}`" if found.wrapper else pair
