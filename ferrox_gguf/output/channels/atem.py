"""muse-glimmer's messages (wire formats, 3.44): ` to=RECIPIENT<|message|>BODY<|eom|>`, then `<|start|>assistant …`.

`self` is the thought, `user` or nobody the answer, anyone else a tool.
"""

from __future__ import annotations

import re

from ferrox_gguf.output.alphabet import LETTERS, Alphabet
from ferrox_gguf.output.channels.messages import Audience, Header, MessageSplitter, Reading
from ferrox_gguf.output.runs import Sink

START, MESSAGE = "<|start|>", "<|message|>"
ENDS = ("<|eom|>", "<|eot|>", "<|end_of_text|>")
RECIPIENT = "to="

HEADER_LENGTH = 128
"""Characters behind `<|start|>` within which `<|message|>` comes, or it was text."""

NAME_LENGTH = 64
"""Characters of a recipient's name in a header that has lost its `<|start|>`."""

_NAME = rf"[^\s<{LETTERS}]{{1,{NAME_LENGTH}}}"
_WORDS = rf"[^<{LETTERS}]{{0,{HEADER_LENGTH}}}"


class Atem(MessageSplitter):
    """in_header: the prompt ended with `<|start|>assistant`."""

    def __init__(self, sink: Sink, alphabet: Alphabet, *, in_header: bool = True) -> None:
        self._start, self._message = alphabet.write(START), alphabet.write(MESSAGE)
        super().__init__(sink, tuple(map(alphabet.write, ENDS)), (self._start, RECIPIENT), in_header=in_header)
        start, message = re.escape(self._start), re.escape(self._message)
        self._whole_started = re.compile(rf"{start}({_WORDS}){message}")
        self._part_started = re.compile(rf"{start}{_WORDS}")
        self._whole_bare = re.compile(rf"\s*(?:{RECIPIENT}({_NAME})\s?)?{message}")
        self._part_bare = re.compile(rf"\s*(?:t|to|{RECIPIENT}[^\s<{LETTERS}]{{0,{NAME_LENGTH}}}\s?)?")

    def header(self, text: str, *, ended: bool, inside: bool) -> Header | Reading:
        started = text.startswith(self._start)
        found = (self._whole_started if started else self._whole_bare).match(text)
        if found is not None:
            recipient = _recipient(found[1]) if started else found[1] or ""
            return Header(_audience(recipient), found.end(), recipient)
        if started:
            likely = self._part_started.fullmatch(self._without_part(text, self._message)) is not None
            # A message that was cut in its header. In a body the same characters, spelled out, may be text.
            return Reading.PART if likely and not (ended and inside and len(self._start) > 1) else Reading.TEXT
        if not inside and self._start.startswith(text):
            return Reading.TEXT if ended else Reading.PART
        if self._part_bare.fullmatch(self._without_part(text, self._message)) is None:
            return Reading.TEXT
        return Reading.PART if not ended or (not inside and RECIPIENT in text) else Reading.TEXT

    @staticmethod
    def _without_part(text: str, marker: str) -> str:
        """`text` without a tail that may become `marker`."""
        for size in range(len(marker) - 1, 0, -1):
            if text.endswith(marker[:size]):
                return text[:-size]
        return text


def _recipient(words: str) -> str:
    for word in words.split():
        if word.startswith(RECIPIENT):
            return word[len(RECIPIENT) :]
    return ""


def _audience(recipient: str) -> Audience:
    if recipient == "self":
        return Audience.THOUGHT
    return Audience.USER if recipient in ("", "user") else Audience.TOOL
