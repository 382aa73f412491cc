"""Separates thoughts from the answer, for every format whose thought stands between two markers.

The splitter is a set of states, each a method that consumes what is certain and says whether it may go on:

    _undecided     one-shot only: is there a closer without an opener?
    _head          nothing but white space in this segment yet: an opener, a wrapper, or the answer
    _block_head    inside a block, nothing but white space yet: repeated openers are dropped here, and only here
    _thought       inside a block
    _trial         inside a block, at a tool marker that may begin a call (interrupt.py)
    _layout        line breaks behind a closer
    _answer        outside; where the format has them: further openers, the end of the wrapper
    _closing       at the end of a wrapper: markup if nothing follows it, text otherwise

Rules: wire formats, section 0 and 4.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from ferrox_gguf.output.alphabet import Alphabet
from ferrox_gguf.output.interrupt import Interruption, Verdict
from ferrox_gguf.output.markers import Markers, suspect_in_thought
from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.runs import Phase, RunKind, Sink
from ferrox_gguf.posture.values import BlockState, ReasoningFormat

SPACE = " \t\r\n"
BREAKS = "\r\n"
SLICE = 64
"""Characters of a held call that are judged at a time: a marker that begins none should cost little to find out."""

PATIENCE = 1 << 22
"""Characters held for nothing, after which tool markers inside a thought are no longer tried."""


class Splitter(Protocol):
    """What the chain needs of a reasoning split. Every character goes to the sink once, in order, while push() works.

    plain: nothing is looked for any more and nothing is held: the rest is answer.
    trying: inside what may become a call, in an open thought.
    passes: what a chunk is that needs no closer look, None for others. It is read then, and does not go to the sink.
    """

    @property
    def phase(self) -> Phase: ...
    @property
    def plain(self) -> bool: ...
    @property
    def trying(self) -> bool: ...
    def passes(self, text: str) -> RunKind | None: ...
    def push(self, text: str) -> None: ...
    def flush(self, end: End) -> None: ...


class ReasoningSplitter:
    """Held back is only what may still become a marker, with the white space that belongs to it.

    state: how the prompt left the block.  continued: the prompt ends in the middle of a thought; white space is text.
    complete: the whole output comes in one push (P7: a closer without an opener makes the text before it a thought).
    trial: makes an Interruption, where a call may come inside an open thought; triggers: where calls may begin.
    quoted: whether what went to the sink so far is inside a call, where openers are text.
    """

    def __init__(
        self,
        format: ReasoningFormat,
        state: BlockState,
        sink: Sink,
        *,
        alphabet: Alphabet | None = None,
        trial: Callable[[str], Interruption] | None = None,
        triggers: Sequence[str] = (),
        quoted: Callable[[], bool] = lambda: False,
        continued: bool = False,
        complete: bool = False,
    ) -> None:
        self._sink, self._make_trial, self._quoted = sink, trial, quoted
        self._markers = markers = Markers(format, alphabet or Alphabet({}), triggers, interrupts=trial is not None)
        self._inside, self._suspect_inside = markers.inside, suspect_in_thought(markers.inside).search
        self._heads, self._live = markers.first_heads, markers.after
        self._text, self._at = "", 0
        self._end: End | None = None
        self._trying: Interruption | None = None
        self._tried = self._judged = 0  # the text on trial: where it begins, how far it was judged
        self._later: list[str] = []  # text that came during the trial
        self._patience = PATIENCE
        self._begun = False  # the block has shown text
        self._breaks_are_closer = format.closer.endswith("\n")
        self._phase = Phase.BEFORE
        self._enter(self._head)
        if state is BlockState.OPEN:
            self._open_block()
            if continued:
                self._enter(self._thought, RunKind.THOUGHT, self._suspect_inside)
        elif state is BlockState.UNOPENED:
            self._live = markers.before
            if complete and markers.closer and not format.repeats and markers.closer not in markers.closings.markers:
                self._enter(self._undecided)

    @property
    def phase(self) -> Phase:
        return self._phase

    @property
    def plain(self) -> bool:
        return self._flow is RunKind.ANSWER and self._suspect is None and self._at == len(self._text)

    @property
    def trying(self) -> bool:
        return self._trying is not None

    def passes(self, text: str) -> RunKind | None:
        if (
            self._flow is None
            or self._at != len(self._text)
            or (self._suspect is not None and self._suspect(text) is not None)
        ):
            return None
        self._begun = True
        return self._flow

    def push(self, text: str) -> None:
        if (kind := self.passes(text)) is not None:
            self._sink(kind, text)
            return
        if self._at == len(self._text) and self._trying is None:
            self._text, self._at = text, 0
        elif self._trying is None:
            self._text, self._at = self._text[self._at :] + text, 0
        elif len(text) <= SLICE:
            self._later.append(text)
            self._judged += len(text)
            if (verdict := self._trying.push(text)) is Verdict.OPEN:
                return
            self._rejoin()
            self._settle(verdict)
        else:
            self._rejoin()
            self._text += text
        self._run()

    def flush(self, end: End) -> None:
        self._end = end
        self._rejoin()
        self._run()
        assert self._at == len(self._text), "text was left behind"

    # -- the machine

    def _enter(
        self,
        state: Callable[[], bool],
        flow: RunKind | None = None,
        suspect: Callable[[str], re.Match[str] | None] | None = None,
    ) -> None:
        """flow: what a chunk is, when nothing is held and `suspect` finds nothing in it."""
        self._state, self._flow, self._suspect = state, flow, suspect

    def _run(self) -> None:
        while self._at < len(self._text) and self._state():
            pass

    def _take(self, kind: RunKind, to: int) -> None:
        start, self._at = self._at, to
        if start < to:
            if kind is RunKind.THOUGHT:
                self._begun = True
            self._sink(kind, self._text[start:to])

    def _solid(self) -> int:
        """Where the first character stands that is not white space (the text's end if none does)."""
        at, text = self._at, self._text
        while at < len(text) and text[at] in SPACE:
            at += 1
        return at

    # -- outside

    def _undecided(self) -> bool:
        ended = self._end is not None
        at, marker = self._markers.either.find(self._text, self._at, ended=ended)
        if not marker and not ended:
            return False
        if marker != self._markers.closer:
            self._enter(self._head)
            return True
        self._open_block()
        self._take(RunKind.MARKUP, min(self._solid(), at))
        self._take(RunKind.THOUGHT, self._before_space(at))
        self._take(RunKind.MARKUP, at + len(marker))
        self._close_block()
        return True

    def _head(self) -> bool:
        at, ended, markers = self._solid(), self._end is not None, self._markers
        if at == len(self._text) and not ended:
            return False
        marker, unsure = self._heads.at(self._text, at, ended=ended)
        if unsure:
            return False
        if marker in markers.openers:
            self._take(RunKind.MARKUP, at + len(marker))
            self._open_block()
        elif marker in markers.bare_closers:
            self._take(RunKind.MARKUP, at + len(marker))
            self._close_block()
        elif marker in markers.headers:
            self._take(RunKind.LAYOUT, at + len(marker))
            self._heads = markers.segment_heads
        else:
            if marker:
                self._take(RunKind.LAYOUT, at + len(marker))
                self._live = markers.after
            self._answer_on()
        return True

    def _layout(self) -> bool:
        text, at = self._text, self._at
        while at < len(text) and text[at] in BREAKS:
            at += 1
            if self._breaks_are_closer and text[at - 1] == "\n":
                self._breaks_are_closer = False
                self._take(RunKind.MARKUP, at)
        self._take(RunKind.LAYOUT, at)
        if at < len(text):
            self._between()
        return True

    def _between(self) -> None:
        """Behind a thought or a segment: what may stand at the head of the next one."""
        if self._heads.markers:
            self._enter(self._head)
        else:
            self._answer_on()

    def _answer_on(self) -> None:
        self._phase = Phase.ANSWERING
        self._enter(self._answer, RunKind.ANSWER, self._live.suspect if self._live.markers else None)

    def _answer(self) -> bool:
        markers = self._markers
        at, marker = self._live.find(self._text, self._at, ended=self._end is not None)
        self._take(RunKind.ANSWER, at)
        if not marker:
            return False
        if marker in markers.closings.markers:
            self._enter(self._closing)
        elif self._quoted():
            self._take(RunKind.ANSWER, at + len(marker))
        elif marker in markers.openers:
            self._take(RunKind.MARKUP, at + len(marker))
            self._open_block()
        else:
            self._take(RunKind.LAYOUT, at + len(marker))
        return True

    def _closing(self) -> bool:
        markers, text, ended = self._markers, self._text, self._end is not None
        first, _ = markers.closings.at(text, self._at, ended=True)
        sure, last, at = first in markers.certain, first, self._at + len(first)
        while last not in markers.headers:
            solid = at
            while solid < len(text) and text[solid] in SPACE:
                solid += 1
            found, unsure = markers.follows.at(text, solid, ended=ended)
            if found in markers.closings.markers:
                at, last = solid + len(found), found
                continue
            if not sure:
                if unsure or (solid == len(text) and not ended):
                    return False
                if solid < len(text) and not found:
                    self._take(RunKind.ANSWER, self._at + len(first))
                    self._answer_on()
                    return True
                at = solid
            break
        self._take(RunKind.LAYOUT, at)
        self._live = markers.after
        self._heads = markers.segment_heads if last in markers.headers else markers.after_heads
        self._between()
        return True

    # -- inside

    def _open_block(self) -> None:
        self._phase, self._begun = Phase.THINKING, False
        self._enter(self._block_head)

    def _block_head(self) -> bool:
        at, ended = self._solid(), self._end is not None
        if at == len(self._text) and not ended:
            return False
        marker, unsure = self._markers.opening.at(self._text, at, ended=ended)
        if unsure:
            return False
        self._take(RunKind.MARKUP, at + len(marker))
        if not marker:
            self._enter(self._thought, RunKind.THOUGHT, self._suspect_inside)
        return True

    def _thought(self) -> bool:
        markers = self._markers
        at, marker = self._inside.find(self._text, self._at, ended=self._end is not None)
        self._take(RunKind.THOUGHT, self._before_space(at))
        if not marker:
            if self._end is not None:
                self._take(RunKind.THOUGHT if self._begun else RunKind.MARKUP, at)
            return False
        if marker == markers.closer:
            self._take(RunKind.MARKUP, at + len(marker))
            self._close_block()
        elif marker in markers.ends_at:
            self._take(RunKind.MARKUP, at)
            self._close_block()
        else:
            assert self._make_trial is not None
            self._trying, self._tried = self._make_trial(markers.closer), at
            self._judged = at
            self._enter(self._trial)
        return True

    def _before_space(self, to: int) -> int:
        """Where the white space before `to` begins."""
        return self._at + len(self._text[self._at : to].rstrip(SPACE))

    def _close_block(self) -> None:
        self._phase = Phase.ANSWERING
        self._heads, self._live = self._markers.after_heads, self._markers.after
        self._enter(self._layout)

    # -- a tool marker inside

    def _trial(self) -> bool:
        assert self._trying is not None
        text = self._text
        while self._judged < len(text):
            verdict = self._trying.push(text[self._judged : self._judged + SLICE])
            self._judged = min(len(text), self._judged + SLICE)
            if verdict is not Verdict.OPEN:
                self._settle(verdict)
                return True
        if self._end is None:
            return False
        self._settle(self._trying.flush(self._end))
        return True

    def _settle(self, verdict: Verdict) -> None:
        trial, self._trying = self._trying, None
        assert trial is not None
        if verdict is Verdict.CALL:
            self._take(RunKind.MARKUP, self._tried)
            self._heads, self._live = self._markers.after_heads, self._markers.after
            self._answer_on()
        elif verdict is Verdict.QUOTED:
            closer = self._tried + trial.length
            self._take(RunKind.THOUGHT, self._before_space(closer))
            self._take(RunKind.MARKUP, closer + len(self._markers.closer))
            self._close_block()
        else:
            self._patience -= self._judged - self._tried
            if self._patience < 0:
                self._inside = self._markers.inside_without_calls
            self._take(RunKind.THOUGHT, self._tried + 1)
            self._enter(self._thought, RunKind.THOUGHT, self._suspect_inside)

    def _rejoin(self) -> None:
        if self._later:
            self._text += "".join(self._later)
            self._later.clear()
