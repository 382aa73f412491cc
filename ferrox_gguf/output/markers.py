"""The markers of one reasoning format, as they arrive, grouped by where they are looked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ferrox_gguf.output.alphabet import Alphabet
from ferrox_gguf.output.lookout import Lookout
from ferrox_gguf.posture.values import ReasoningFormat


class Markers:
    """White space that a format writes around its markers is layout, which models write or leave out: it is not needed
    to recognise them. Only where it ends a bare word (Gemma's channel name) it is a part of the marker.

    openers, bare_closers, wrapper_openers, headers, strays: sets of markers with one meaning each ("" never is in one).
    certain: markers that are tokens, so that nobody could have meant them as text.
    first_heads, segment_heads, after_heads: what may begin the output, a segment, the text behind a thought.
    inside: in an open block.  before, after: outside, before and behind the first block.
    closings: ends of the answer.  follows: what shows, behind one of these, that it was meant.
    """

    def __init__(
        self, format: ReasoningFormat, alphabet: Alphabet, triggers: Sequence[str], *, interrupts: bool
    ) -> None:
        write = alphabet.write
        self.closer = write(format.closer.strip())
        opener = write(_tidy(format.opener))
        self.openers = {opener} - {""}
        if format.repeats and opener:
            # Gemma: an extra empty `<|channel>` before the one that names its channel.
            self.openers.add(write(_first_tag(format.opener)) + opener)
        self.bare_closers = {self.closer} if format.bare_closer else set()
        self.headers = {write(format.header)} - {""}
        self.ends_at = {write(text) for text in format.ends_at}
        begin, end = format.wrapper or ("", "")
        self.wrapper_openers = {write(begin), write(begin.rstrip())} - {""}
        closings = {write(end), write(end.lstrip()), *map(write, format.tail)} - {""} | self.headers
        self.strays = {self.closer} if format.repeats else set()
        calls = {text for trigger in triggers for text in (trigger, write(trigger))}
        self.certain = {marker for marker in closings if not marker.isascii() and marker != alphabet.spell(marker)}

        self.opening = Lookout([*self.openers])
        self.closings = Lookout([*closings])
        outside = closings | self.strays
        self.before = Lookout([*outside, *self.openers])
        self.after = Lookout([*outside, *(self.openers if format.repeats else ())])
        self.first_heads = Lookout([*self.openers, *self.bare_closers, *self.wrapper_openers, *self.headers])
        self.segment_heads = Lookout([*self.openers, *self.wrapper_openers, *self.headers])
        self.after_heads = Lookout([*self.wrapper_openers, *self.headers])
        self.follows = Lookout(
            [*closings, *self.wrapper_openers, *(self.openers if self.headers else ()), *(calls if closings else ())]
        )
        self.either = Lookout([*self.openers, self.closer])
        self.inside_without_calls = Lookout([self.closer, *self.ends_at])
        self.inside = Lookout([self.closer, *self.ends_at, *calls]) if interrupts else self.inside_without_calls


def suspect_in_thought(inside: Lookout) -> re.Pattern[str]:
    """Finds what may begin a marker, and white space at the end, which belongs to a closer that may follow."""
    firsts = "".join(sorted({re.escape(marker[0]) for marker in inside.markers}))
    return re.compile(rf"[{firsts}]|\s\Z" if firsts else r"\s\Z")


def _tidy(opener: str) -> str:
    bare = opener.rstrip()
    return bare if bare.endswith((">", "]")) else opener


def _first_tag(opener: str) -> str:
    return opener[: opener.find(">") + 1]
