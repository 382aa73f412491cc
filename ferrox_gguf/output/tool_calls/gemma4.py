"""`<|tool_call>call:NAME{KEY:VAL,…}<tool_call|>`: Gemma 4. Keys are bare, strings have quotes of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ferrox_gguf.output.tool_calls.attributes import HEAD_LIMIT
from ferrox_gguf.output.tool_calls.cursor import SPACE, Cursor, Steps
from ferrox_gguf.output.tool_calls.enclosure import Enclosure
from ferrox_gguf.output.tool_calls.literal import pass_cut_key, read_argument
from ferrox_gguf.output.tool_calls.reading import Reading
from ferrox_gguf.output.tool_calls.tagged import finish_call
from ferrox_gguf.output.tool_calls.value_text import ValueEnd, stream_text
from ferrox_gguf.output.tool_calls.writer import CallWriter

OPENER, CLOSER = "<|tool_call>", "<tool_call|>"
QUOTE = '<|"|>'

_STRING = ValueEnd(QUOTE, follow=(",", "}", "]", ":", CLOSER), outer=(f"}}{CLOSER}",))


class GemmaNotation:
    brackets: Mapping[str, str] = {"{": "}", "[": "]"}
    end = CLOSER

    def string(self, text: Cursor, take: Callable[[str], None], commit: Callable[[], None]) -> Steps[bool | None]:
        if not (yield from text.take(QUOTE)):
            return None
        return (yield from stream_text(text, _STRING, take, commit))


class Gemma4:
    at_start = False
    triggers: Sequence[str] = (OPENER,)

    def __init__(self) -> None:
        self._enclosure = Enclosure((), (), begins=(OPENER,))
        self._notation = GemmaNotation()

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        return (yield from self._enclosure.read(text, calls, self._call))

    def _call(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        start = text.at
        yield from text.take(OPENER)
        yield from text.space()
        if (yield from text.take("call:")):
            name = yield from text.until(("{", "<", "\n"), limit=HEAD_LIMIT)
            if name is not None and name.strip() and (yield from text.take("{")):
                reading = Reading(text, calls, name.strip())
                reading.start()
                yield from self._arguments(text, calls, reading)
                return True
        text.back(start)
        return False

    def _arguments(self, text: Cursor, calls: CallWriter, reading: Reading) -> Steps[None]:
        while True:
            yield from text.space()
            if (yield from text.take("}")):
                yield from text.space()
                yield from text.take(CLOSER)
                reading.finish(whole=True)
                return
            yield from text.take(",")
            yield from text.space()
            key = yield from self._key(text)
            if key is None:
                break
            out = reading.arguments.entry(key)
            if not (yield from read_argument(text, reading, out, self._notation, (",", "}", CLOSER))):
                break
        pass_cut_key(text)
        yield from finish_call(text, calls, reading, (CLOSER, OPENER), (QUOTE,))

    def _key(self, text: Cursor) -> Steps[str | None]:
        start = text.at
        yield from text.take(QUOTE)
        key = yield from text.until((":", ",", "}", CLOSER), limit=HEAD_LIMIT)
        if key is not None and (yield from text.take(":")):
            return key.strip(SPACE).removesuffix(QUOTE)
        text.back(start)
        return None
