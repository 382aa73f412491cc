"""One call of a tagged or literal syntax while it is read: members become compact JSON in the order they are written.

A call that was not offered is read in the same way, so that what it quotes starts no call; nothing is said or decided
then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ferrox_gguf.declared import UNDECLARED, Declared
from ferrox_gguf.output.tool_calls.cursor import Cursor
from ferrox_gguf.output.tool_calls.typed import quoted
from ferrox_gguf.output.tool_calls.writer import CallWriter

Out: TypeAlias = Callable[[str], None]


class Container:
    """An object or array that is written while it is read.

    Its opening goes out with `open`; an entry's comma and key go out with the first fragment of its value, so that
    nothing is said of an entry before its value is certain.
    """

    def __init__(self, out: Out, brackets: str = "{}") -> None:
        self._out, self._brackets = out, brackets
        self._entries = 0

    def open(self) -> None:
        self._out(self._brackets[0])

    def close(self) -> None:
        self._out(self._brackets[1])

    def entry(self, key: str | None = None) -> Out:
        """Where the value of the next entry goes. key: None in an array."""
        begun = False

        def out(fragment: str) -> None:
            nonlocal begun
            if fragment and not begun:
                begun = True
                comma = "," if self._entries else ""
                self._entries += 1
                fragment = comma + fragment if key is None else f'{comma}"{quoted(key)}":{fragment}'
            if fragment:
                self._out(fragment)

        return out


class Reading:
    """A call from its name to its end. arguments: the object to write; declared: what the tool's schema says of it."""

    def __init__(self, text: Cursor, calls: CallWriter, name: str) -> None:
        self._text, self._calls = text, calls
        self.tool = calls.offered.find(name)
        self.declared = Declared.arguments(self.tool.parameters) if self.tool is not None else UNDECLARED
        self.arguments = Container(self.out)

    def start(self) -> None:
        """The call has started (section 0, calls 1)."""
        if self.tool is not None:
            self._calls.start(self.tool.name)
            self.arguments.open()
        self.commit()

    def out(self, fragment: str) -> None:
        if self.tool is not None:
            self._calls.arguments(fragment)

    def commit(self) -> None:
        """Everything up to the cursor is decided."""
        if self.tool is not None:
            self._text.commit()

    def finish(self, whole: bool, closed: bool = False) -> None:
        """The call is over, up to the cursor. closed: the arguments' end is written already, or lost (calls 6)."""
        if self.tool is not None:
            if whole and not closed:
                self.arguments.close()
            self._calls.finish(whole)
        self.commit()
