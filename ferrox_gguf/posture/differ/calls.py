"""Finds how a template writes tool calls (wire-formats section 5, steps 7 to 11).

The words of a probe call are unmistakable, so everything that stands around them is markup. What belongs to the call
and what to the section around all calls shows when a second call is rendered beside the first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ferrox_gguf.jinja import CompiledTemplate
from ferrox_gguf.json_types import Json
from ferrox_gguf.posture.differ.probe import Call, Probe
from ferrox_gguf.posture.differ.segments import difference, is_marker, markers, segments, shared_end
from ferrox_gguf.posture.differ.words import IDS, KEYS, TOOLS, VALUES
from ferrox_gguf.posture.known import HERMES
from ferrox_gguf.posture.values import CallMarkers, ReasoningFormat

CUSTOM = "custom"
_ONE = Call(TOOLS[0], dict(zip(KEYS, VALUES, strict=True)))
_OTHER = Call(TOOLS[1], dict(zip(KEYS, VALUES, strict=True)), IDS[1])
_FAMILIAR = {
    CallMarkers("json", call_open="<tool_call>", call_close="</tool_call>"): HERMES,
    CallMarkers("json", arguments_field="parameters"): "llama3",
}
"""Forms of so many models that a syntax of their own reads them better: it knows what they leave out."""


@dataclass(frozen=True, slots=True)
class ComparedCalls:
    """tool_format: "custom" with markers, or a known syntax, which needs none.  because: for the evidence."""

    tool_format: str
    markers: CallMarkers | None
    because: str


@dataclass(frozen=True, slots=True)
class _Written:
    """One call as rendered: what stands before it, what it says (reading included), and what stands behind it."""

    before: str
    after: str
    markers: CallMarkers
    start: int
    end: int


def compare_calls(
    template: CompiledTemplate, variables: Mapping[str, Json], reasoning: ReasoningFormat | None = None
) -> ComparedCalls | None:
    """The call format, or None when past calls are not rendered or not in a way that `CallMarkers` can say.

    reasoning: the format found before; an empty thought of its kind is no part of a call.
    """
    probe = Probe(template, variables)
    body = _body(probe, _ONE)
    written = _read(body, _ONE) if body else None
    if written is None or not _says_all(written):
        return None
    both = _body(probe, _ONE, _OTHER)
    pair = _two(both) if both else None
    if pair is not None and pair[0] != pair[1]:
        return None  # a counter or an id stands in the markup
    if reasoning is not None:
        before = written.before.strip().removeprefix(f"{reasoning.opener}{reasoning.closer}")
        written = replace(written, before=before)
    found = _trimmed(_bounds(written, pair[2] if pair else None))
    told = "a past call, rendered, shows " + _told(found)
    if familiar := _FAMILIAR.get(replace(found, id_field="")):
        return ComparedCalls(familiar, None, told)
    return ComparedCalls(CUSTOM, found, told)


def _body(probe: Probe, *calls: Call) -> str | None:
    """What a turn with these calls has instead of an answer."""
    answered, called = probe.answered_with_tools(), probe.called(*calls)
    if answered is None or called is None:
        return None
    return difference(answered, called).right


def _read(body: str, call: Call, start: int = 0) -> _Written | None:
    """Read one call, whichever way it is written: as JSON, as a name with JSON, or all in tags."""
    for reader in (_json_payload, _named_payload, _tagged_payload):
        written = reader(body, call, start)
        if written is not None:
            return written
    return None


def _json_payload(body: str, call: Call, start: int) -> _Written | None:
    """One object with name and arguments, perhaps in a list, perhaps with the name as its only key."""
    for at, end, value in _json_values(body, start):
        array = isinstance(value, list)
        items = value if isinstance(value, list) else [value]
        fields = _fields(items[0], call) if items else None
        if fields is not None:
            return _Written(body[start:at], body[end:], replace(fields, array=array), at, end)
    return None


def _fields(item: Json, call: Call) -> CallMarkers | None:
    if not isinstance(item, dict):
        return None
    if item.get(call.name) == call.arguments:
        return CallMarkers("json", name_as_key=True)
    name = next((key for key, value in item.items() if value == call.name), None)
    arguments = next(
        (key for key, value in item.items() if value in (call.arguments, json.dumps(call.arguments))), None
    )
    if name is None or arguments is None:
        return None
    id_field = next((key for key, value in item.items() if value == call.id), "")
    return CallMarkers("json", name_field=name, arguments_field=arguments, id_field=id_field)


def _named_payload(body: str, call: Call, start: int) -> _Written | None:
    """The name between markers, the arguments as one JSON object."""
    name = body.find(call.name, start)
    for at, end, value in _json_values(body, start):
        if value == call.arguments and 0 <= name < at:
            head = body[name + len(call.name) : at].strip()
            if call.id in head:
                head = head.partition(call.id)[0]
            return _Written(body[start:name], body[end:], CallMarkers("name_json", name_close=head), name, end)
    return None


def _tagged_payload(body: str, call: Call, start: int) -> _Written | None:
    """Name, keys and values each between markers of their own."""
    places = [body.find(call.name, start)]
    for key, value in call.arguments.items():
        for word in (key, value):
            places.append(body.find(word, places[-1] + 1))
    if -1 in places or places != sorted(places):
        return None
    words = [call.name, *(word for pair in call.arguments.items() for word in pair)]
    ends = [place + len(word) for place, word in zip(places, words, strict=True)]
    gaps = [body[end:place] for end, place in zip(ends[:-1], places[1:], strict=True)]
    to_first_key, key_to_value, to_second_key, again = gaps
    if key_to_value != again or any(key in gap for gap in gaps for key in call.arguments):
        return None
    first, second = segments(to_first_key), segments(to_second_key)
    shared = shared_end(first, second)
    key_open, name_close = "".join(first[len(first) - shared :]), "".join(first[: len(first) - shared])
    value_close = "".join(second[: len(second) - shared]).strip()
    key_close, _, value_open = _halves(key_to_value)
    behind = body[ends[-1] :]
    if not value_close or not key_open.strip() or not behind.lstrip().startswith(value_close):
        return None
    tags = CallMarkers(
        "tagged",
        name_close=name_close.strip(),
        key_open=key_open.strip(),
        key_close=key_close,
        value_open=value_open,
        value_close=value_close,
    )
    end = ends[-1] + behind.index(value_close) + len(value_close)
    return _Written(body[start : places[0]], body[end:], tags, places[0], end)


def _halves(gap: str) -> tuple[str, str, str]:
    """What closes a key and what opens a value: the first marker, and all that follows it."""
    parts = segments(gap.strip())
    return parts[0] if parts else "", "", "".join(parts[1:]).strip()


def _json_values(body: str, start: int) -> list[tuple[int, int, Json]]:
    """Every place where a JSON object or list can be read, with its end and value."""
    decoder, found = json.JSONDecoder(), []
    for at in range(start, len(body)):
        if body[at] in "[{":
            try:
                value, end = decoder.raw_decode(body, at)
            except ValueError:
                continue
            found.append((at, end, value))
    return found


def _says_all(written: _Written) -> bool:
    """False where a probe word is left in the markup: an id before the name, the name a second time."""
    markup = (written.before, written.after, written.markers.name_close, written.markers.key_open)
    return not any(word in text for word in (_ONE.name, _ONE.id, *KEYS, *VALUES) for text in markup)


def _two(both: str) -> tuple[CallMarkers, CallMarkers, str] | None:
    """Two calls as read, and what stands between them; "," when they are two items of one list."""
    first = _read(both, _ONE)
    if first is None or _OTHER.name not in both:
        return None
    if first.markers.array and _OTHER.name in both[first.start : first.end]:
        return first.markers, first.markers, ","
    second = _read(both, _OTHER, first.end)
    return None if second is None else (first.markers, second.markers, both[first.end : second.start])


def _bounds(written: _Written, between: str | None) -> CallMarkers:
    """Tell the section's markers from the call's: what is repeated between two calls belongs to the call."""
    before, after = written.before.strip(), written.after.strip()
    payload = written.markers
    if between is None:
        if payload.array:
            return replace(payload, section_open=before, section_close=after)
        return _parted(replace(payload, call_open=before, call_close=after))
    call_open, call_close = _repeated(before, after, between.strip())
    found = replace(
        payload,
        section_open=before.removesuffix(call_open).strip(),
        section_close=after.removeprefix(call_close).strip(),
        call_open=call_open.strip(),
        call_close=call_close.strip(),
    )
    return _parted(found)


def _repeated(before: str, after: str, between: str) -> tuple[str, str]:
    """The longest end of `before` and beginning of `after` that make up what stands between two calls."""
    pieces = segments(between)
    best = ("", "")
    for cut in range(len(pieces) + 1):
        close, opening = "".join(pieces[:cut]).strip(" \n,;"), "".join(pieces[cut:]).strip(" \n,;")
        if before.endswith(opening) and after.startswith(close) and len(opening) + len(close) > sum(map(len, best)):
            best = (opening, close)
    return best


def _parted(found: CallMarkers) -> CallMarkers:
    """Markers before a name in tags, when all are repeated: the first is a section of one call, the last the call."""
    if found.section_open or found.payload == "json":
        return found
    opening = segments(found.call_open)
    closing = segments(found.call_close)
    if len([part for part in opening if part.strip()]) < 2 or not any(part.strip() for part in closing[1:]):
        return found
    return replace(
        found,
        section_open="".join(opening[:-1]).strip(),
        call_open=opening[-1],
        call_close=closing[0],
        section_close="".join(closing[1:]).strip(),
    )


def _trimmed(found: CallMarkers) -> CallMarkers:
    """Without the end of the turn: a section or a call is closed by as many markers as opened it."""
    return replace(
        found,
        section_close=_as_many(found.section_open, found.section_close),
        call_close=_as_many(found.call_open, found.call_close),
    )


def _as_many(opening: str, closing: str) -> str:
    if not opening:
        return ""
    left, taken = max(1, len(markers(opening))), ""
    for part in segments(closing):
        if is_marker(part):
            if not left:
                break
            left -= 1
        taken += part
    return taken.strip()


def _told(found: CallMarkers) -> str:
    shown = (found.section_open, found.call_open, "…", found.call_close, found.section_close)
    words = {"json": "JSON objects", "name_json": "a name and a JSON object", "tagged": "tagged arguments"}[
        found.payload
    ]
    markup = " ".join(f"`{marker}`" if marker != "…" else marker for marker in shown if marker)
    return f"{words}{' in a list' if found.array else ''}: {markup}"
