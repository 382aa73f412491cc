"""gpt-oss's messages (wire formats, 3.9):

    [ to=RECIPIENT]<|channel|>CHANNEL[ to=RECIPIENT][ [<|constrain|>]TYPE]<|message|>BODY<|end|>

The next one begins with `<|start|>assistant`; the first one's was in the prompt. Output without all this is the answer.
"""

from __future__ import annotations

import re

from ferrox_gguf.output.alphabet import LETTERS, Alphabet
from ferrox_gguf.output.channels.envelope import FUNCTIONS
from ferrox_gguf.output.channels.messages import Audience, Header, MessageSplitter, Reading
from ferrox_gguf.output.runs import Sink

START, CHANNEL, MESSAGE, CONSTRAIN = "<|start|>", "<|channel|>", "<|message|>", "<|constrain|>"
END, ENDS = "<|end|>", ("<|end|>", "<|return|>", "<|call|>")
RECIPIENT = "to="
THOUGHT_CHANNEL = "analysis"
CHANNELS = (THOUGHT_CHANNEL, "commentary", "final")


def _prefixes(word: str) -> str:
    return "|".join(word[:size] for size in range(len(word), -1, -1))


_WORDS = rf"[^<{LETTERS}]{{0,160}}"
_RECIPIENT = rf"to=[^\s<{LETTERS}]{{0,128}}"
_ROLE = rf"\s*(?:assistant)?\s*(?:{_RECIPIENT}\s*)?"
_IN_STRING = re.compile(r'["\\]')
_PART_OF_ROLE = re.compile(rf"\s*(?:{_prefixes('assistant')}|(?:assistant\s*)?(?:t|to|{_RECIPIENT}\s*)?)")


class Harmony(MessageSplitter):
    """Starts inside the header whose beginning, `<|start|>assistant`, the prompt has."""

    def __init__(self, sink: Sink, alphabet: Alphabet) -> None:
        write = alphabet.write
        self._start, self._channel, self._message = write(START), write(CHANNEL), write(MESSAGE)
        self._spelled = len(self._channel) > 1
        ends = tuple(map(write, ENDS))
        super().__init__(sink, ends, (self._start, self._channel), in_header=True)
        start, channel, message = map(re.escape, (self._start, self._channel, self._message))
        constrain = re.escape(write(CONSTRAIN))
        self._whole = re.compile(
            rf"(?:(?P<start>{start})(?P<role>{_WORDS})|(?P<bare>{_ROLE}))"
            rf"(?:(?P<channels>(?:{channel}{_WORDS})+)(?:{constrain}{_WORDS})?)?{message}"
        )
        self._part = re.compile(
            rf"(?:{start}{_WORDS}|{_ROLE}(?={channel}))"
            rf"(?:(?:{channel}{_WORDS})*|(?:{channel}{_WORDS})+{constrain}{_WORDS})"
        )
        self._json: bool | None = None  # whether the call's body is an object; None before it has begun
        self._in_string = False
        self._markers = tuple(write(marker) for marker in (START, CHANNEL, MESSAGE, CONSTRAIN))

    def open(self, header: Header) -> None:
        self._json, self._in_string = None, False
        super().open(header)

    def next_marker(self, *, ended: bool) -> tuple[int, str]:
        """In a call's JSON, a marker that is spelled out inside a string is the string's."""
        if self._audience is not Audience.TOOL or not self._spelled:
            return super().next_marker(ended=ended)
        text, at = self._text, self._at
        if self._json is None and (begin := text[at:].lstrip()):
            self._json = begin.startswith("{")
        end, marker = -1, ""
        while True:
            if self._in_string:
                found = _IN_STRING.search(text, at)
                if found is None:
                    return len(text), ""
                if found.group() == "\\":
                    if found.end() == len(text):
                        return (len(text) if ended else found.start()), ""
                    at = found.end() + 1
                    continue
                self._in_string, at = False, found.end()
            if end < at:
                end, marker = self._lookout.find(text, at, ended=ended)
            quote = text.find('"', at, end) if self._json else -1
            if quote < 0:
                return end, marker
            self._in_string, at = True, quote + 1

    def header(self, text: str, *, ended: bool, inside: bool) -> Header | Reading:
        found = self._whole.match(text)
        if found is not None:
            return self._address(found, inside=inside)
        part = self._part.fullmatch(text) or self._part.fullmatch(self._without_part(text))
        if part is not None:
            # A message that was cut in its header. In a body the same characters, spelled out, may be text.
            return Reading.TEXT if ended and inside and self._spelled else Reading.PART
        if ended or inside:
            return Reading.PART if not ended and self._may_begin(text) else Reading.TEXT
        return Reading.PART if self._may_begin(text) else Reading.TEXT

    def _address(self, found: re.Match[str], *, inside: bool) -> Header | Reading:
        channels = [part.split() for part in (found["channels"] or "").split(self._channel)[1:]]
        words = channels[-1] if channels else []
        channel = words[0] if words else ""
        if inside and found["start"] is None and self._spelled and channel not in CHANNELS:
            return Reading.TEXT
        recipient = _recipient([*words, *(found["role"] or found["bare"] or "").split()])
        if recipient.startswith(FUNCTIONS):
            return Header(Audience.TOOL, found.end(), recipient)
        if recipient and recipient != "assistant":
            return Header(Audience.NOBODY, found.end(), recipient)
        return Header(Audience.THOUGHT if channel == THOUGHT_CHANNEL else Audience.USER, found.end())

    def _may_begin(self, text: str) -> bool:
        """No marker of a header has come yet, but one still may."""
        return _PART_OF_ROLE.fullmatch(self._without_part(text)) is not None

    def _without_part(self, text: str) -> str:
        """`text` without a tail that may become a marker."""
        tail = text.rfind("<")
        if tail >= 0 and any(marker.startswith(text[tail:]) and marker != text[tail:] for marker in self._markers):
            return text[:tail]
        return text


def _recipient(words: list[str]) -> str:
    for word in words:
        if word.startswith(RECIPIENT):
            return word[len(RECIPIENT) :]
    return ""
