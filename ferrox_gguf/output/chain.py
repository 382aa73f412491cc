"""The whole way from pieces of generated text to events.

    pieces → the family's own end markers → reasoning split → the request's stop strings → tool calls → events

One object for one choice, pure: no clock, no thread, no I/O, so that the engine thread can run one inline too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ferrox_gguf.events import ContentDelta, OutputEvent, ReasoningDelta, ToolCallEnd
from ferrox_gguf.output.alphabet import Alphabet, without_private
from ferrox_gguf.output.channels import Atem, Harmony
from ferrox_gguf.output.channels.envelope import Envelope
from ferrox_gguf.output.counting import ReasoningTokens
from ferrox_gguf.output.forms import native_syntax, syntaxes
from ferrox_gguf.output.interrupt import NEVER_INTERRUPTS, Interruption
from ferrox_gguf.output.pieces import End, Piece, TokenKind
from ferrox_gguf.output.reasoning import ReasoningSplitter, Splitter
from ferrox_gguf.output.runs import Phase, RunKind
from ferrox_gguf.output.stops import StopFinder
from ferrox_gguf.output.tool_calls import ToolCallSplitter
from ferrox_gguf.posture.values import BlockState, Posture, ReasoningStyle
from ferrox_gguf.request import ReasoningDisplay, Tool

# Read once a token: an Enum's member costs a look-up in its class each time.
_NORMAL, _THOUGHT = TokenKind.NORMAL, RunKind.THOUGHT

_MARKUP = re.compile(r'think|tool|call|arg|func|invoke|param|action|"', re.IGNORECASE)
"""What control tokens have in their names that stand in or around calls (`[ARGS]`, `<|tool_sep|>`, Gemma's quote)."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A string ended the output. own: the family's end marker, spelled out: as good as its token, no stop word."""

    word: str
    own: bool = False


class OutputChain:
    """push() returns what is certain; flush() ends the choice. How the text was cut never changes the joined events.

    state: how the rendered prompt left the block (for ATEM, OPEN: inside a message's header).
    tools: what a call may name; without any nothing is looked for.  stops: the request's stop strings.
    marker_tokens: marker text → id, for those of `marker_texts(posture.reasoning)` that are CONTROL or USER_DEFINED
    tokens of the vocabulary; empty for raw text.  display: where the thought is shown.
    opened: what the prompt wrote of the block that it left open. Shown in front where the thought is content, so that
    a client finds both of its markers there, as llama-server has it.
    continued: the prompt ends in the middle of a thought (continue_final_message), whose white space is text.
    complete: everything comes in one push, then P7 holds.  special: control tokens that mark nothing are shown too.

    stop: set once a stop string was found; what is pushed after it is ignored, and generation should end.
    called: at least one whole call was made.
    """

    def __init__(
        self,
        posture: Posture,
        state: BlockState = BlockState.UNOPENED,
        *,
        tools: Sequence[Tool] = (),
        stops: Sequence[str] = (),
        marker_tokens: Mapping[str, int] | None = None,
        display: ReasoningDisplay = ReasoningDisplay.AUTO,
        opened: str = "",
        continued: bool = False,
        complete: bool = False,
        special: bool = False,
    ) -> None:
        self.stop: Stop | None = None
        self.called = False
        self._events: list[OutputEvent] = []
        self._alphabet = Alphabet(marker_tokens or {})
        self._special = special
        self._splits = display is not ReasoningDisplay.NONE
        self._raw = display in (ReasoningDisplay.NONE, ReasoningDisplay.DEEPSEEK_LEGACY)
        self._opened = opened if self._raw else ""
        self._own_stops = StopFinder(posture.string_stops) if posture.string_stops else None
        self._stops = StopFinder(stops) if any(stops) else None
        self._direct = not self._raw and self._own_stops is None and self._stops is None
        forms = syntaxes(posture)
        self._calls = ToolCallSplitter(forms, tools)
        self._triggers = tuple(trigger for form in forms for trigger in form.triggers)
        # Raw completions have no posture: there control tokens are hidden, as in llama-server.
        self._speaks = posture.reasoning is not None or posture.tool_format is not None or bool(tools)
        self._envelope = next((form for form in forms if isinstance(form, Envelope)), None)
        self._splitter = self._split(posture, state, tools, continued=continued, complete=complete)
        self._tokens = ReasoningTokens() if self._splitter is not None else None
        self._counting = self._tokens is not None
        self._phase = Phase.ANSWERING
        style = posture.reasoning.style if posture.reasoning else None
        self._channels = style in (ReasoningStyle.HARMONY, ReasoningStyle.ATEM)
        self._private = self._channels or bool(self._alphabet.letters)

    @property
    def reasoning_tokens(self) -> int | None:
        """Tokens known to be spent on thinking so far; exact after flush(). None without a reasoning format (C6)."""
        return None if self._tokens is None else self._tokens.count

    @property
    def phase(self) -> Phase:
        """Where the text pushed so far stands. Without a reasoning format it is always the answer."""
        return self._phase if self._splitter is None else self._splitter.phase

    def push(self, pieces: Sequence[Piece]) -> list[OutputEvent]:
        if self.stop is not None:
            return []
        if self._direct and len(pieces) == 1 and (events := self._push_plain(pieces[0])) is not None:
            return events
        text = ""
        for piece in pieces:
            here = piece.text
            kind = piece.kind
            if kind is not TokenKind.NORMAL:
                here, text = self._marked(piece, text)
            elif self._private:
                here = without_private(here)
            if self._counting and self._tokens is not None:
                self._tokens.arrived(len(here), piece.tokens)
            text += here
        if text:
            self._feed(text)
        return self._take_events()

    def flush(self, end: End) -> list[OutputEvent]:
        """The output is over. A request's stop string cut it, whatever `end` says; the family's own ended it."""
        if self._own_stops is not None and self.stop is None:
            self._pass(self._own_stops.flush())
        if self.stop is not None:
            end = End.DONE if self.stop.own else End.CUT
        phase = self.phase
        if self._splitter is not None and (self.stop is None or self.stop.own):
            self._splitter.flush(end)
        if self._stops is not None and (self.stop is None or self.stop.own):
            self._read(self._stops.flush())
        if self.stop is not None and not self.stop.own:
            end = End.CUT
        self._extend(self._calls.flush(end))
        if self._tokens is not None:
            self._tokens.finish(phase is Phase.THINKING)
        return self._take_events()

    def _push_plain(self, piece: Piece) -> list[OutputEvent] | None:
        """The same for an ordinary token in the middle of a text, while nothing is held: for nearly all. Else None."""
        text, splitter, tokens = piece.text, self._splitter, self._tokens
        if piece.kind is not _NORMAL or not text or (self._private and not text.isascii()):
            return None
        if splitter is not None and tokens is not None:
            if tokens.waiting or (kind := splitter.passes(text)) is None:
                return None
            if kind is _THOUGHT:
                tokens.count += 1
                return [ReasoningDelta(text)]
        events = self._calls.push(text)
        if not events or (len(events) == 1 and type(events[0]) is ContentDelta):
            return events
        self._extend(events)
        return self._take_events()

    # -- stages

    def _split(
        self, posture: Posture, state: BlockState, tools: Sequence[Tool], *, continued: bool, complete: bool
    ) -> Splitter | None:
        reasoning, alphabet = posture.reasoning, self._alphabet
        if reasoning is None:
            return None
        if reasoning.style is ReasoningStyle.HARMONY:
            return Harmony(self._sort, alphabet)
        if reasoning.style is ReasoningStyle.ATEM:
            return Atem(self._sort, alphabet, in_header=state is BlockState.OPEN)
        native = native_syntax(posture) if tools and posture.calls_interrupt else None
        triggers = self._triggers if tools else ()
        if native is not None:
            triggers = tuple(trigger for trigger in native.triggers if trigger not in NEVER_INTERRUPTS)

        def trial(closer: str) -> Interruption:
            form = native_syntax(posture)
            return Interruption((form,) if form else (), tools, closer, alphabet.spell)

        return ReasoningSplitter(
            reasoning,
            state,
            self._sort,
            alphabet=alphabet,
            trial=trial if native is not None else None,
            triggers=triggers,
            quoted=lambda: self._calls.called and self._calls.busy,
            continued=continued,
            complete=complete,
        )

    def _marked(self, piece: Piece, before: str) -> tuple[str, str]:
        """The text of a piece that is not an ordinary token, and what of `before` is still to be fed."""
        letter = self._alphabet.letters.get(piece.token)
        if letter is not None:
            return letter, before
        if piece.kind is TokenKind.CONTROL and not self._special and not self._is_markup(piece.text):
            # Inside a call a control token may be a part of the syntax; elsewhere nobody wrote it to be read.
            self._feed(before)
            before = ""
            if not self._calls.busy and (self._splitter is None or not self._splitter.trying):
                return "", before
        return without_private(piece.text) if self._private else piece.text, before

    def _is_markup(self, text: str) -> bool:
        """Is this control token a marker's? Those are never hidden, from the parsers or where they are text."""
        return self._speaks and (
            _MARKUP.search(text) is not None or any(text in trigger or trigger in text for trigger in self._triggers)
        )

    def _feed(self, text: str) -> None:
        if self._own_stops is not None:
            text = self._own_stops.push(text)
        self._pass(text)
        if self._own_stops is not None and self._own_stops.hit is not None and self.stop is None:
            self.stop = Stop(self._own_stops.hit, own=True)

    def _pass(self, text: str) -> None:
        if not text:
            return
        splitter = self._splitter
        if splitter is None:
            self._answer(self._alphabet.spell(text))
            return
        splitter.push(text)
        if splitter.plain:
            self._splitter, self._counting = None, False

    def _sort(self, kind: RunKind, text: str) -> None:
        thought = kind is RunKind.THOUGHT
        if self._counting and self._tokens is not None and kind is not RunKind.CALL:
            self._tokens.classified(len(text), thought or kind is RunKind.MARKUP)
        if self.stop is not None and not self.stop.own:
            return
        if self._opened:
            self._extend([ContentDelta(self._opened)])
            self._opened = ""
        if kind is RunKind.ANSWER:
            self._answer(self._alphabet.spell(text))
        elif kind is RunKind.CALL:
            # Where Hermes came first it is the message's only form; the body of a native call is content then.
            if self._envelope is not None and (self._envelope.started or not self._calls.called):
                self._answer(text)
        elif thought and self._splits:
            self._reason(self._alphabet.spell(text))
        if self._raw and kind in (RunKind.THOUGHT, RunKind.MARKUP, RunKind.LAYOUT):
            if self._splits:
                # Shown twice; but it is no answer, in which calls and stop strings would count.
                self._extend([ContentDelta(self._alphabet.spell(text))])
            else:
                self._answer(self._alphabet.spell(text))

    def _reason(self, text: str) -> None:
        events = self._events
        if events and isinstance(last := events[-1], ReasoningDelta):
            events[-1] = ReasoningDelta(last.text + text)
        else:
            events.append(ReasoningDelta(text))

    def _answer(self, text: str) -> None:
        stops = self._stops
        if stops is not None:
            if self.stop is not None and not self.stop.own:
                return
            text = stops.push(text)
            if stops.hit is not None:
                self.stop = Stop(stops.hit)
        self._read(text)

    def _read(self, text: str) -> None:
        if text:
            self._extend(self._calls.push(text))

    def _extend(self, found: list[OutputEvent]) -> None:
        for event in found:
            if isinstance(event, ContentDelta):
                text = without_private(event.text) if self._channels else event.text
                events = self._events
                if events and isinstance(last := events[-1], ContentDelta):
                    events[-1] = ContentDelta(last.text + text)
                    continue
            elif isinstance(event, ToolCallEnd) and event.whole:
                self.called = True
            self._events.append(event)

    def _take_events(self) -> list[OutputEvent]:
        events, self._events = self._events, []
        return events
