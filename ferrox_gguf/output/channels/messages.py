"""What the channel grammars have in common: headers, bodies, ends, and where text of each goes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ferrox_gguf.output.channels.envelope import BODY, CLOSE, OPEN
from ferrox_gguf.output.lookout import Lookout
from ferrox_gguf.output.markers import suspect_in_thought
from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.runs import Phase, RunKind, Sink

SPACE = " \t\r\n"
REACH = 512
"""Characters that a header can have; what has not become one by then was text."""


class Audience(Enum):
    """Whom a message is for. NOBODY: a tool of the model's own platform; its body is dropped."""

    THOUGHT = "thought"
    USER = "user"
    TOOL = "tool"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Header:
    """One message's address. length: characters of text it took, noise before it included."""

    audience: Audience
    length: int
    recipient: str = ""


class Reading(Enum):
    """What a text is that is no whole header. PART: it may become one.  TEXT: it cannot."""

    PART = "part"
    TEXT = "text"


class MessageSplitter(ABC):
    """Reads messages from text that is still arriving; a Splitter for the chain.

    A subclass says what a header is (`header`) and which texts may begin one inside a body (`boundaries`, of which the
    first begins a whole header).  ends: what closes a message.

    _text, _at: what is not decided yet begins at _at.  _audience: of the message that is read; None in a header.
    """

    plain = trying = False

    def __init__(self, sink: Sink, ends: Sequence[str], boundaries: Sequence[str], *, in_header: bool) -> None:
        self._sink = sink
        self._ends = frozenset(ends)
        self._lookout = Lookout([*ends, *boundaries])
        self._end_at = Lookout(ends)
        self._suspect_in_thought = suspect_in_thought(self._lookout).search
        self._start = boundaries[0]
        self._addressed = False  # a message has had a header
        self._text, self._at = "", 0
        self._end: End | None = None
        self._audience: Audience | None = None if in_header else Audience.USER
        self._begun = False  # the thought has shown text
        self._phase = Phase.BEFORE if in_header else Phase.ANSWERING

    @property
    def phase(self) -> Phase:
        return self._phase

    @abstractmethod
    def header(self, text: str, *, ended: bool, inside: bool) -> Header | Reading:
        """What stands at the beginning of `text`, which is cut off behind REACH characters.

        inside: in a body, at a boundary; else where a header is due.  ended: PART then means a header that was cut.
        """

    def push(self, text: str) -> None:
        if (kind := self.passes(text)) is not None:
            self._sink(kind, text)
            return
        self._text, self._at = self._text[self._at :] + text, 0
        self._run()

    def flush(self, end: End) -> None:
        self._end = end
        self._run()
        assert self._at == len(self._text), "text was left behind"
        self._close("")

    def passes(self, text: str) -> RunKind | None:
        if self._at != len(self._text):
            return None
        if self._audience is Audience.USER:
            return RunKind.ANSWER if self._lookout.suspect(text) is None else None
        if self._audience is Audience.THOUGHT and self._begun:
            return RunKind.THOUGHT if self._suspect_in_thought(text) is None else None
        return None

    def _run(self) -> None:
        while self._at < len(self._text) and (self._read_header() if self._audience is None else self._read_body()):
            pass

    def _take(self, kind: RunKind, to: int) -> None:
        start, self._at = self._at, to
        if start < to:
            self._sink(kind, self._text[start:to])

    def _read_header(self) -> bool:
        ended = self._end is not None
        end, unsure = self._end_at.at(self._text, self._at, ended=ended)
        if end:  # a message without a header and a body, or an end written twice
            self._take(RunKind.HEADER, self._at + len(end))
            return True
        found = Reading.PART if unsure else self._look(self._at, inside=False)
        if found is Reading.PART:
            if ended:
                self._take(RunKind.HEADER, len(self._text))
            return False
        if isinstance(found, Header):
            self.open(found)
        elif ended and self._addressed and self._start.startswith(self._text[self._at :]):
            self._take(RunKind.HEADER, len(self._text))  # the next message was cut in the first marker of its header
        else:
            self._audience, self._phase = Audience.USER, Phase.ANSWERING
            self._take(RunKind.ANSWER, self._at + 1)
        return True

    def _look(self, at: int, *, inside: bool) -> Header | Reading:
        found = self.header(self._text[at : at + REACH], ended=self._end is not None, inside=inside)
        return Reading.TEXT if found is Reading.PART and len(self._text) - at > REACH else found

    def open(self, header: Header) -> None:
        """A message begins."""
        thought = header.audience is Audience.THOUGHT
        self._take(RunKind.MARKUP if thought else RunKind.HEADER, self._at + header.length)
        self._audience, self._begun, self._addressed = header.audience, False, True
        self._phase = Phase.THINKING if thought else Phase.ANSWERING
        if header.audience is Audience.TOOL:
            self._sink(RunKind.CALL, OPEN + header.recipient + BODY)

    def _close(self, end: str) -> None:
        if self._audience is Audience.TOOL and end:
            self._sink(RunKind.CALL, CLOSE)
        if end:
            self._take(RunKind.MARKUP if self._audience is Audience.THOUGHT else RunKind.HEADER, self._at + len(end))
        self._audience = None
        if self._phase is Phase.THINKING:
            self._phase = Phase.ANSWERING

    def _read_body(self) -> bool:
        ended = self._end is not None
        at, marker = self.next_marker(ended=ended)
        if self._audience is Audience.THOUGHT:
            self._take_thought(at)
        else:
            self._take(RunKind.HEADER if self._audience is Audience.NOBODY else RunKind.ANSWER, at)
        if not marker:
            if ended and self._audience is Audience.THOUGHT:
                self._take(RunKind.THOUGHT if self._begun else RunKind.MARKUP, len(self._text))
            return False
        if marker in self._ends:
            if self._audience is Audience.THOUGHT:
                self._take(RunKind.MARKUP, at)
            self._close(marker)
            return True
        found = self._look(at, inside=True)
        if found is Reading.PART:
            if ended:
                self._take(RunKind.HEADER, len(self._text))
            return False
        if isinstance(found, Header):
            if self._audience is Audience.THOUGHT:
                self._take(RunKind.MARKUP, at)
            elif self._audience is Audience.TOOL:
                self._sink(RunKind.CALL, CLOSE)
            self.open(found)
        elif self._audience is Audience.THOUGHT:
            self._take(RunKind.THOUGHT, at + 1)
            self._begun = True
        else:
            self._take(RunKind.HEADER if self._audience is Audience.NOBODY else RunKind.ANSWER, at + 1)
        return True

    def _take_thought(self, to: int) -> None:
        """Text of the thought up to `to`, without the white space around it."""
        body = self._text[self._at : to]
        if not self._begun:
            self._take(RunKind.MARKUP, self._at + len(body) - len(body.lstrip(SPACE)))
        solid = self._at + len(self._text[self._at : to].rstrip(SPACE))
        if solid > self._at:
            self._begun = True
        self._take(RunKind.THOUGHT, solid)

    def next_marker(self, *, ended: bool) -> tuple[int, str]:
        """The next end or boundary of the body."""
        return self._lookout.find(self._text, self._at, ended=ended)
