"""`<invoke name="NAME"><parameter name="KEY">VAL</parameter></invoke>`: names and keys in attributes.

The syntaxes that write so differ in their markers only (see minimax, deepseekv32, minicpm5, atem).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ferrox_gguf.declared import UNDECLARED, Declared
from ferrox_gguf.output.tool_calls.attributes import read_attributes
from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.enclosure import Enclosure
from ferrox_gguf.output.tool_calls.tagged import Form, Head, read_call
from ferrox_gguf.output.tool_calls.writer import CallWriter


@dataclass(frozen=True)
class Invocation:
    """The markers of one call, heads without their attributes and `>`."""

    invoke: str
    invoke_end: str
    parameter: str
    parameter_end: str


class Invoked:
    """A section of calls, `sections` (opener, closer), or calls that stand alone.

    undeclared: what a parameter is that the schema says nothing of.
    """

    at_start = False

    def __init__(
        self,
        markers: Invocation,
        sections: Sequence[tuple[str, str]] = (),
        *,
        cdata: bool = False,
        undeclared: Declared = UNDECLARED,
    ) -> None:
        self._markers, self._undeclared = markers, undeclared
        opens, closes = tuple(opener for opener, _ in sections), tuple(closer for _, closer in sections)
        self.triggers: Sequence[str] = opens or (markers.invoke,)
        self._enclosure = Enclosure(opens, closes, begins=(markers.invoke,))
        self._form = Form(
            self.head,
            (markers.parameter,),
            markers.parameter_end,
            markers.invoke_end,
            outer=closes,
            next_call=(markers.invoke,),
            goes_on=(f"{markers.invoke} name=",),
            cdata=cdata,
        )

    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        return (yield from self._enclosure.read(text, calls, self.call))

    def call(self, text: Cursor, calls: CallWriter) -> Steps[bool]:
        """One call where it stands, without what is around it."""
        start = text.at
        attributes = yield from read_attributes(text, self._markers.invoke, ">")
        name = (attributes or {}).get("name")
        if name and (yield from read_call(text, calls, name, self._form)):
            return True
        text.back(start)
        return False

    def head(self, text: Cursor) -> Steps[Head | None]:
        start = text.at
        attributes = yield from read_attributes(text, self._markers.parameter, ">")
        if attributes is None or "name" not in attributes:
            text.back(start)
            return None
        return Head(attributes["name"], self.wire(attributes), self._undeclared)

    def wire(self, attributes: dict[str, str]) -> Declared | None:
        """The type that a parameter's attributes insist on."""
        return None
