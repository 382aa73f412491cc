"""Separates calls from the answer's text, one chunk at a time.

The splitter owns where calls are looked for, what is held back, and the white space around them; a syntax owns what a
call looks like. Rules: wire formats, section 0, "Calls".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from ferrox_gguf.events import ContentDelta, OutputEvent
from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.tool_calls.cursor import SPACE, Cursor, Steps, held
from ferrox_gguf.output.tool_calls.syntax import Addressed, Syntax
from ferrox_gguf.output.tool_calls.writer import CallWriter
from ferrox_gguf.request import Tool

PATIENCE = 1 << 20
"""Characters that failed attempts may read before the rest is taken as text.

A call is looked for again behind each marker that did not start one; this keeps an output made of nothing but markers
from costing quadratic time. Counted in the text that an attempt had to look at, so that cuts do not matter.
"""


class ToolCallSplitter:
    """push() returns what is certain; flush() ends the output. The joined events do not depend on the cuts.

    syntaxes: the native form first, then Hermes; the first that starts a call is the only one from then on.
    Without tools (or syntaxes) every text passes untouched (but for the headers of an Addressed form).
    """

    def __init__(self, syntaxes: Sequence[Syntax], tools: Sequence[Tool]) -> None:
        self._events: list[OutputEvent] = []
        self._writer = CallWriter(tools, self._content, self._events)
        self._cursor = Cursor()
        self._attempt: Steps[bool] | None = None
        self._reading: Syntax | None = None
        self._candidates: list[Syntax] = []
        self._fixed = False  # a form has started a call
        self._commits = 0  # the cursor's, when the attempt began
        self._unmarked = False  # the attempt began at the message's start, without a trigger
        self._space: list[str] = []  # white space that is shown only if text follows it
        self._after_call = False
        self._calls_seen = 0
        self._patience = PATIENCE
        self._use(syntaxes if tools else [syntax for syntax in syntaxes if isinstance(syntax, Addressed)])
        self._at_start = any(syntax.at_start for syntax in self._syntaxes)

    @property
    def called(self) -> bool:
        """At least one call was started."""
        return self._writer.started

    @property
    def busy(self) -> bool:
        """Inside what is, or may still become, a call."""
        return self._attempt is not None

    def push(self, text: str) -> list[OutputEvent]:
        if self._attempt is None and not self._cursor.text and not self._at_start:
            if self._untouched:
                return [ContentDelta(text)] if text else []
            if self._suspect.search(text) is None:
                if (
                    text
                    and text[-1] not in SPACE
                    and not self._space
                    and not self._after_call
                    and self._calls_seen == self._writer.count
                ):
                    return [ContentDelta(text)]  # nearly every token of an answer
                self._content(text)
                return self._take_events()
        self._cursor.append(text)
        self._run()
        return self._take_events()

    def flush(self, end: End) -> list[OutputEvent]:
        """The output is over: decide everything that was held."""
        self._cursor.end = end
        self._run()
        if self._space and not self._after_call and self._calls_seen == self._writer.count:
            self._events.append(ContentDelta("".join(self._space)))
        self._space.clear()
        return self._take_events()

    # -- scanning

    def _use(self, syntaxes: Sequence[Syntax]) -> None:
        self._syntaxes = tuple(syntaxes)
        self._untouched = not syntaxes and not self._writer.started and not self._space
        triggers = sorted({trigger for syntax in syntaxes for trigger in syntax.triggers}, key=len, reverse=True)
        self._triggers = tuple(triggers)
        self._longest = max(map(len, triggers), default=0)
        self._trigger = re.compile("|".join(map(re.escape, triggers)) or r"(?!)")
        firsts = "".join(re.escape(char) for char in sorted({trigger[0] for trigger in triggers}))
        # A chunk with none of these cannot begin a call.
        self._suspect = re.compile(f"[{firsts}]" if firsts else r"(?!)")

    def _run(self) -> None:
        while self._scan() if self._attempt is None else self._resume():
            pass

    def _scan(self) -> bool:
        """Pass text on up to the next place where a call may begin; True when an attempt was begun there."""
        cursor = self._cursor
        text = cursor.text
        if self._at_start:
            return self._scan_start()
        match = self._trigger.search(text, cursor.at)
        if match is None:
            tail = text[max(cursor.at, len(text) - self._longest + 1) :]
            self._pass(len(text) - (held(tail, self._triggers) if cursor.end is None else 0))
            return False
        at = match.start()
        if cursor.end is None and any(
            len(trigger) > len(text) - at and trigger.startswith(text[at:]) for trigger in self._triggers
        ):
            self._pass(at)  # a longer trigger may still stand here
            return False
        self._pass(at)
        self._begin([s for s in self._syntaxes if any(cursor.text.startswith(t, cursor.at) for t in s.triggers)])
        return True

    def _scan_start(self) -> bool:
        """The message's first character that is not white space: some forms need no trigger there."""
        cursor = self._cursor
        self._pass(len(cursor.text) - len(cursor.text.lstrip(SPACE)))
        if not cursor.text:
            return False
        self._at_start = False
        self._unmarked = True
        self._begin([syntax for syntax in self._syntaxes if syntax.at_start])
        return True

    def _pass(self, at: int) -> None:
        """Text up to `at` is content."""
        cursor = self._cursor
        if at > cursor.at:
            self._content(cursor.text[cursor.at : at])
            cursor.at = at
        cursor.forget()
        cursor.mark = cursor.reach = cursor.at

    # -- attempts

    def _begin(self, candidates: list[Syntax]) -> None:
        self._candidates = candidates
        self._next_candidate()

    def _next_candidate(self) -> None:
        cursor = self._cursor
        cursor.at = cursor.reach = cursor.mark
        self._commits = cursor.commits
        self._writer.attempt()
        self._reading = self._candidates.pop(0)
        self._attempt = self._reading.read(cursor, self._writer)

    def _resume(self) -> bool:
        """Let the attempt read on; True when it is over, one way or the other."""
        assert self._attempt is not None
        done, read = False, False
        try:
            next(self._attempt)
        except StopIteration as stop:
            done, read = True, stop.value
        if not self._fixed and self._writer.started:
            self._fix_form()
        if done:
            self._conclude(read)
        else:
            assert self._cursor.end is None, "a syntax waits for text after the end"
        return done

    def _fix_form(self) -> None:
        """The first form that starts a call is the message's form; the other is text from then on."""
        assert self._reading is not None
        self._fixed = True
        self._candidates.clear()
        self._use((self._reading,))

    def _conclude(self, read: bool) -> None:
        cursor = self._cursor
        self._attempt = None
        if read:
            self._candidates.clear()
            cursor.forget()
            cursor.mark = cursor.reach = cursor.at
            self._unmarked = False
            return
        self._patience -= max(cursor.reach, cursor.at) - cursor.mark
        undecided = cursor.commits == self._commits
        if undecided and self._candidates and self._patience >= 0:
            self._next_candidate()
            return
        self._candidates.clear()
        cursor.at = cursor.mark
        if self._patience < 0:
            self._use(())
        if undecided and not self._unmarked:
            # One character becomes text, so that the same place is not tried again.
            self._pass(min(cursor.at + 1, len(cursor.text)))
        self._unmarked = False

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
            self._space.append(text)
            return
        self._after_call = False
        if self._space:
            self._space.append(bare)
            shown = "".join(self._space)
            self._space.clear()
        else:
            shown = bare
        if len(bare) < len(text):
            self._space.append(text[len(bare) :])
        self._events.append(ContentDelta(shown))

    def _take_events(self) -> list[OutputEvent]:
        events = self._events[:]
        self._events.clear()
        return events if len(events) < 2 else _merged(events)


def _merged(events: list[OutputEvent]) -> list[OutputEvent]:
    """Neighbouring pieces of content as one."""
    out: list[OutputEvent] = []
    for content, group in groupby(events, lambda event: isinstance(event, ContentDelta)):
        if content:
            out.append(ContentDelta("".join(event.text for event in group if isinstance(event, ContentDelta))))
        else:
            out += group
    return out
