"""Separates calls from the answer's text, one chunk at a time.

The splitter owns where calls are looked for, what is held back, and the white space around them; a syntax owns what a
call looks like. Rules: wire formats, section 0, "Calls".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ferrox_gguf.events import ContentDelta, OutputEvent
from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.tool_calls.cursor import SPACE, Cursor, Steps, held
from ferrox_gguf.output.tool_calls.syntax import Syntax
from ferrox_gguf.output.tool_calls.writer import CallWriter
from ferrox_gguf.request import Tool

PATIENCE = 1 << 22
"""Characters of failed attempts that are read again before the rest is taken as text.

A call is looked for again behind each marker that did not start one; this keeps an output made of nothing but markers
from costing quadratic time.
"""


class ToolCallSplitter:
    """push() returns what is certain; flush() ends the output. The joined events do not depend on the cuts.

    syntaxes: the native form first, then Hermes; the first that starts a call is the only one from then on.
    Without tools (or syntaxes) every text passes untouched.
    """

    def __init__(self, syntaxes: Sequence[Syntax], tools: Sequence[Tool]) -> None:
        self._events: list[OutputEvent] = []
        self._writer = CallWriter(tools, self._content, self._events)
        self._cursor = Cursor()
        self._attempt: Steps[bool] | None = None
        self._reading: Syntax | None = None
        self._candidates: list[Syntax] = []
        self._unmarked = False  # the attempt began at the message's start, without a trigger
        self._space = ""  # white space that is shown only if text follows it
        self._after_call = False
        self._calls_seen = 0
        self._at_start = True
        self._patience = PATIENCE
        self._use(syntaxes if tools else ())

    @property
    def called(self) -> bool:
        """At least one call was started."""
        return self._writer.started

    @property
    def busy(self) -> bool:
        """Inside what is, or may still become, a call."""
        return self._attempt is not None

    def push(self, text: str) -> list[OutputEvent]:
        if not self._syntaxes and not self._cursor.text and not self._writer.started and not self._space:
            return [ContentDelta(text)] if text else []
        if (
            self._attempt is None
            and not self._cursor.text
            and not self._at_start
            and self._suspect.search(text) is None
        ):
            self._content(text)
            return self._take_events()
        self._cursor.text += text
        self._run()
        return self._take_events()

    def flush(self, end: End) -> list[OutputEvent]:
        """The output is over: decide everything that was held."""
        self._cursor.end = end
        self._run()
        if self._space and not self._after_call and self._calls_seen == self._writer.count:
            self._events.append(ContentDelta(self._space))
        self._space = ""
        return self._take_events()

    # -- scanning

    def _use(self, syntaxes: Sequence[Syntax]) -> None:
        self._syntaxes = tuple(syntaxes)
        triggers = sorted({trigger for syntax in syntaxes for trigger in syntax.triggers}, key=len, reverse=True)
        self._triggers = tuple(triggers)
        self._trigger = re.compile("|".join(map(re.escape, triggers)) or r"(?!)")
        firsts = "".join(re.escape(char) for char in sorted({trigger[0] for trigger in triggers}))
        # A chunk with none of these passes without a look at the held state.
        self._suspect = re.compile(rf"[{firsts}]|\s\Z" if firsts else r"\s\Z")

    def _run(self) -> None:
        while True:
            if self._attempt is not None:
                if not self._resume():
                    return
            elif not self._scan():
                return

    def _scan(self) -> bool:
        """Pass text on up to the next place where a call may begin; True when an attempt was begun there."""
        cursor = self._cursor
        text = cursor.text
        if self._at_start:
            bare = text.lstrip(SPACE)
            if not bare and cursor.end is None:
                return False
            if bare and self._begin_at_start(len(text) - len(bare)):
                return True
            self._at_start = False
        match = self._trigger.search(text)
        if match is None:
            keep = held(text, self._triggers) if cursor.end is None else 0
            self._content(text[: len(text) - keep])
            cursor.text = text[len(text) - keep :]
            return False
        at = match.start()
        if cursor.end is None and any(
            len(trigger) > len(text) - at and trigger.startswith(text[at:]) for trigger in self._triggers
        ):
            self._content(text[:at])  # a longer trigger may still stand here
            cursor.text = text[at:]
            return False
        self._unmarked = False
        self._begin(at, [s for s in self._syntaxes if any(text.startswith(trigger, at) for trigger in s.triggers)])
        return True

    def _begin_at_start(self, at: int) -> bool:
        candidates = [syntax for syntax in self._syntaxes if syntax.at_start]
        if not candidates:
            return False
        self._at_start = False
        self._unmarked = True
        self._begin(at, candidates)
        return True

    def _begin(self, at: int, candidates: list[Syntax]) -> None:
        self._content(self._cursor.text[:at])
        self._cursor.text = self._cursor.text[at:]
        self._candidates = candidates
        self._next_candidate()

    # -- attempts

    def _next_candidate(self) -> None:
        self._cursor.at = self._cursor.mark = 0
        self._reading = self._candidates.pop(0)
        self._attempt = self._reading.read(self._cursor, self._writer)

    def _resume(self) -> bool:
        """Let the attempt read on; True when it is over, one way or the other."""
        assert self._attempt is not None
        fixed = self._writer.started
        try:
            next(self._attempt)
        except StopIteration as stop:
            self._fix_form(fixed)
            self._conclude(bool(stop.value))
            return True
        assert self._cursor.end is None, "a syntax waits for text after the end"
        self._fix_form(fixed)
        return False

    def _fix_form(self, fixed: bool) -> None:
        """The first form that starts a call is the message's form; the other is text from then on."""
        if self._writer.started and not fixed and self._reading is not None:
            self._candidates.clear()
            self._use((self._reading,))

    def _conclude(self, calls: bool) -> None:
        cursor = self._cursor
        if calls:
            self._candidates.clear()
            self._attempt = None
            cursor.text = cursor.text[cursor.at :]
            cursor.at = cursor.mark = 0
            return
        if cursor.mark == 0 and self._candidates:
            self._next_candidate()
            return
        self._attempt = None
        text = cursor.text = cursor.text[cursor.mark :]
        unmarked, self._unmarked = self._unmarked and cursor.mark == 0, False
        cursor.at = cursor.mark = 0
        self._patience -= len(text)
        if self._patience < 0:
            self._use(())
        if not unmarked:
            # One character at least becomes text, so that the same place is not tried again.
            self._content(text[:1])
            cursor.text = text[1:]

    # -- content

    def _content(self, text: str) -> None:
        """Pass text to the answer, but for the white space that a call may still swallow (calls 7)."""
        if self._calls_seen != self._writer.count:
            self._calls_seen = self._writer.count
            self._after_call = True
        if self._after_call:
            text = text.lstrip(SPACE)
        if not text:
            return
        bare = text.rstrip(SPACE)
        if not bare:
            self._space += text
            return
        self._after_call = False
        shown, self._space = self._space + bare, text[len(bare) :]
        if self._events and isinstance(last := self._events[-1], ContentDelta):
            self._events[-1] = ContentDelta(last.text + shown)
        else:
            self._events.append(ContentDelta(shown))

    def _take_events(self) -> list[OutputEvent]:
        events = self._events[:]
        self._events.clear()
        return events
