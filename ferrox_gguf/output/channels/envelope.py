"""How a channel grammar hands a message that is addressed to a tool to the tool-call splitter.

The grammar decides by headers what is a call; the splitter numbers calls, orders forms, and cares for white space. So
the body of such a message goes down the answer's way in an envelope of three letters that no text can hold:

    OPEN recipient BODY the message's body CLOSE
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ferrox_gguf.output.pieces import End
from ferrox_gguf.output.tool_calls.atem import Atem
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.json_payload import stream_arguments
from ferrox_gguf.output.tool_calls.writer import CallWriter

OPEN, BODY, CLOSE = "\udff0", "\udff1", "\udff2"
FUNCTIONS = "functions."


class Envelope(ABC):
    """A syntax that reads one message after the other. Never gives text back: what is no call, it makes content.

    started: it has begun a call.  headers: as in tool_calls.syntax.Addressed; without tools it is no text either.
    """

    at_start = False
    triggers: Sequence[str] = (OPEN,)
    headers: Sequence[str] = (OPEN,)

    def __init__(self) -> None:
        self.started = False

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        yield from text.take(OPEN)
        recipient = yield from text.until((BODY,))
        if recipient is None:  # a stop string was found in the address
            text.at = len(text.text)
            text.commit()
            return True
        yield from text.take(BODY)
        text.commit()
        body = Cursor()
        steps = self.body(recipient, body, calls)
        reading = True
        while body.end is None:
            close = text.text.find(CLOSE, text.at)
            to = close if close >= 0 else len(text.text)
            body.append(text.text[text.at : to])
            body.end = End.DONE if close >= 0 else text.end
            text.at = to
            text.commit()
            if reading:
                reading = next(steps, _OVER) is not _OVER
            if not reading:
                show(body, calls)
            if body.end is None:
                yield
        yield from text.take(CLOSE)
        text.commit()
        return True

    @abstractmethod
    def body(self, recipient: str, text: Cursor, calls: CallWriter) -> Steps[None]:
        """Read what the message says, to its end; the rest of it becomes content."""


_OVER = object()


def show(text: Cursor, calls: CallWriter) -> None:
    """Everything that has arrived becomes content."""
    if text.rest():
        calls.content(text.rest())
        text.at = len(text.text)
        text.commit()


class HarmonyCalls(Envelope):
    """The body is one JSON object; an empty one stands for no arguments."""

    def body(self, recipient: str, text: Cursor, calls: CallWriter) -> Steps[None]:
        tool = calls.offered.find(recipient[len(FUNCTIONS) :])
        if tool is None:
            return
        yield from text.space()
        if not (yield from text.more()):
            if text.end is End.DONE:
                self.started = True
                calls.start(tool.name)
                calls.arguments("{}")
                calls.finish()
        elif text.text[text.at] == "{":
            self.started = True
            calls.start(tool.name)
            calls.finish((yield from stream_arguments(text, calls, ())))


class AtemCalls(Envelope):
    """The body is markup that names its function again; text beside it is content."""

    def body(self, recipient: str, text: Cursor, calls: CallWriter) -> Steps[None]:
        if not calls.offered:
            return
        markup = Atem()
        while (yield from text.more()):
            before = yield from text.until(markup.triggers)
            if before is None:
                return
            if before.strip():
                calls.content(before)
            text.commit()
            calls.attempt()
            count = calls.count
            found = yield from markup.read(text, calls)
            self.started = self.started or calls.count > count
            if not found:
                text.at = text.mark
                calls.content(text.text[text.at : text.at + 1])
                text.at += 1
                text.commit()
