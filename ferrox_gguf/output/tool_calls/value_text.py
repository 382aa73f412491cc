"""The text of one tagged value, streamed up to where it ends.

An end-of-value marker counts only where more markup, or the output's end, follows it: elsewhere the value quotes it.
What may still become an end is held back, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps

_REPEATS, _GAP = 4, 8
"""Forgotten ends are looked for in at most so many markers in a row, with so much white space behind each: what is held
back for them stays short."""


@dataclass(frozen=True)
class ValueEnd:
    """Where a value's text ends.

    close: its marker.  follow: what may stand behind it, white space aside (empty: it needs no proof).
    outer: markers that end the call around it, in case the model forgot `close`: they count when the output ends behind
    them, or one of `next_call` follows.
    layout: one line break on either side belongs to the markup.
    nested: an opening of the same element inside the value; it takes one `close` with it.
    """

    close: str
    follow: tuple[str, ...]
    outer: tuple[str, ...] = ()
    next_call: tuple[str, ...] = ()
    layout: bool = False
    nested: str = ""

    @property
    def _starts(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.close, self.nested, *self.outer, *self.next_call)))

    @cached_property
    def _outer(self) -> str:
        return rf"(?:{_any(self.outer)}[ \t\r\n]{{0,{_GAP}}})"

    @cached_property
    def marker(self) -> re.Pattern[str]:
        """The closing marker, or a nested opening."""
        return re.compile(_any(tuple(filter(None, (self.close, self.nested)))))

    @cached_property
    def forgotten(self) -> re.Pattern[str]:
        """The end of the call and the next call's beginning: the value ended before, without its marker."""
        return re.compile(rf"{self._outer}{{1,{_REPEATS}}}(?={_any(self.next_call)})")

    @cached_property
    def tail(self) -> re.Pattern[str]:
        """The end of the text so far that may become the value's end; it may be empty. begun: without the layout."""
        layout = r"\n?" if self.layout else ""
        first = "|".join(map(_beginning, filter(None, (self.close, self.nested, *self.outer))))
        later = "|".join(map(_beginning, self._starts))
        begun = rf"(?:{self._outer}{{1,{_REPEATS}}}(?:{later})?|(?:{first})?)"
        return re.compile(rf"{layout}(?P<begun>{begun})\Z")

    @cached_property
    def window(self) -> int:
        """Characters that `tail` may take."""
        return 1 + _REPEATS * (_GAP + max(map(len, self.outer), default=0)) + max(map(len, self._starts))

    @cached_property
    def suspect(self) -> re.Pattern[str]:
        """A character without which no end can begin."""
        firsts = {marker[0] for marker in self._starts} | ({"\n"} if self.layout else set())
        return re.compile("[" + "".join(map(re.escape, sorted(firsts))) + "]")


def _any(markers: tuple[str, ...]) -> str:
    return "(?:" + ("|".join(map(re.escape, markers)) or "(?!)") + ")"


def _beginning(marker: str) -> str:
    """A pattern for every non-empty beginning of `marker`."""
    pattern = ""
    for char in reversed(marker):
        pattern = re.escape(char) + (f"(?:{pattern})?" if pattern else "")
    return pattern


def stream_text(text: Cursor, end: ValueEnd, take: Callable[[str], None], commit: Callable[[], None]) -> Steps[bool]:
    """Give the value's text to `take` as it becomes certain. True: the text is complete; False: the output was cut.

    The closing marker is consumed; an end that the model forgot to mark leaves the cursor where the markup goes on.
    commit: called whenever text was given (positions saved before are void then).
    """

    def give(upto: int) -> None:
        piece = text.text[text.at : upto]
        text.at = upto
        take(piece)
        commit()

    def before(at: int) -> int:
        """Where the text ends that a marker at `at` ends."""
        return at - 1 if end.layout and at > text.at and text.text[at - 1] == "\n" else at

    if end.layout:
        yield from text.take("\n")
    depth = 0
    while True:
        if text.end is None and end.suspect.search(text.text, text.at) is None:
            give(len(text.text))
            yield
            continue
        hit = end.marker.search(text.text, text.at)
        upto = len(text.text) if hit is None else hit.start()
        forgotten = end.forgotten.search(text.text, text.at, upto) if depth == 0 else None
        if forgotten is not None:
            layout = forgotten.start() - before(forgotten.start())
            give(before(forgotten.start()))
            text.at += layout
            commit()
            return True
        if hit is None:
            tail = end.tail.search(text.text, max(text.at, len(text.text) - end.window))
            assert tail is not None, "an empty tail always matches"
            if text.end is not None:
                return _output_ended(text, tail, give, commit)
            give(tail.start())
            yield
        elif depth or hit.group() == end.nested:
            depth += 1 if hit.group() == end.nested else -1
            give(hit.end())
        else:
            behind = hit.end() - before(hit.start())
            give(before(hit.start()))
            if not end.follow or (yield from followed(text, text.at + behind, end.follow)):
                text.at += behind
                commit()
                return True
            give(text.at + behind)


def _output_ended(text: Cursor, tail: re.Match[str], give: Callable[[int], None], commit: Callable[[], None]) -> bool:
    """The output is over inside the value. A marker of which one character came is text, more of it is a marker."""
    size, begun = len(text.text), tail["begun"]
    layout = tail.start("begun") - tail.start()
    if text.end is End.CUT:
        give(tail.start())
        text.at += size - tail.start()
        commit()
        return False
    if len(begun) == 1:
        give(size)
    else:
        give(tail.start())
        text.at += layout
        commit()
    return True


def followed(text: Cursor, at: int, markers: Sequence[str]) -> Steps[bool]:
    """Does markup, or the output's end, stand behind `at`? Nothing is consumed."""
    start, text.at = text.at, at
    yield from text.space()
    found = not (yield from text.more()) or (yield from text.take_any(markers)) is not None
    rest = text.rest()
    found = found or (text.end is not None and any(marker.startswith(rest) for marker in markers))
    text.at = start
    return found
