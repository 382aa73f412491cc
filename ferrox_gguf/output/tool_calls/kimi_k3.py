"""Kimi K3's XTML: a tools section with calls, whose arguments are elements or one JSON object."""

from __future__ import annotations

from collections.abc import Sequence

from ferrox_gguf.declared import STRING, UNDECLARED, Declared
from ferrox_gguf.output.tool_calls.arguments import read_value, stream_arguments
from ferrox_gguf.output.tool_calls.attributes import read_attributes
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.enclosure import Enclosure
from ferrox_gguf.output.tool_calls.section import read_endings
from ferrox_gguf.output.tool_calls.tagged import Form, Head, read_call
from ferrox_gguf.output.tool_calls.writer import CallWriter

SEP = "<|sep|>"
SECTION_OPEN, SECTION_CLOSE = f"<|open|>tools{SEP}", f"<|close|>tools{SEP}"
CALL, CALL_END = "<|open|>call", f"<|close|>call{SEP}"
ARGUMENT, ARGUMENT_END = "<|open|>argument", f"<|close|>argument{SEP}"
TURN_END = (f"<|close|>message{SEP}", "<|end_of_msg|>")
JSON, JSON_END = "<|open|>json", f"<|close|>json{SEP}"


def _unescaped(value: str) -> str:
    """Attribute values escape these two."""
    return value.replace("&quot;", '"').replace("&amp;", "&")


def _head(text: Cursor) -> Steps[Head | None]:
    start = text.at
    attributes = yield from read_attributes(text, ARGUMENT, SEP)
    if attributes is None or "key" not in attributes:
        text.back(start)
        return None
    return Head(_unescaped(attributes["key"]), fallback=_said(attributes.get("type", "")))


def _said(type: str) -> Declared:
    """The type that the model wrote, which holds where the schema declares none."""
    if type == "string":
        return STRING
    return Declared(frozenset({type})) if type in ("number", "boolean", "null", "object", "array") else UNDECLARED


class KimiK3:
    at_start = False
    triggers: Sequence[str] = (SECTION_OPEN,)

    def __init__(self) -> None:
        self._enclosure = Enclosure((SECTION_OPEN,), (SECTION_CLOSE,), begins=(CALL,))
        self._form = Form(_head, (ARGUMENT,), ARGUMENT_END, CALL_END, outer=(SECTION_CLOSE,), next_call=(CALL,))

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        before = calls.count
        if not (yield from self._enclosure.read(text, calls, self._call)):
            return False
        if calls.count > before:
            yield from read_endings(text, tuple((marker,) for marker in TURN_END))
        return True

    def _call(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        start = text.at
        attributes = yield from read_attributes(text, CALL, SEP)
        name = _unescaped((attributes or {}).get("tool", ""))
        if name:
            yield from text.space()
            if (yield from text.stands((JSON,))):
                if (yield from self._json_body(text, calls, name)):
                    return True
            elif (yield from read_call(text, calls, name, self._form)):
                return True
        text.back(start)
        return False

    def _json_body(self, text: Cursor, calls: CallWriter, name: str) -> Steps[bool]:
        if (yield from read_attributes(text, JSON, SEP)) is None:
            return False
        yield from text.space()
        if not (yield from text.stands(("{",))):
            return False
        tool = calls.offered.find(name)
        if tool is None:
            if (yield from read_value(text)) is None:
                return False
        else:
            calls.start(tool.name)
            calls.finish((yield from stream_arguments(text, calls, (JSON_END, CALL_END, SECTION_CLOSE))))
        for marker in (JSON_END, CALL_END):
            yield from text.space()
            yield from text.take(marker)
        if tool is not None:
            text.commit()
        return True
