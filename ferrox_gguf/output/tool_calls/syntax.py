"""What one way of writing calls is to the splitter. One file a syntax; `__init__` lists them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from ferrox_gguf.output.tool_calls.cursor import Cursor, Steps
from ferrox_gguf.output.tool_calls.writer import CallWriter


class Syntax(Protocol):
    """Reads calls where they may stand.

    triggers: texts at which a call or a section of calls may begin.
    at_start: a call may also begin, without a trigger, at the message's first character that is not white space.
    read: a generator that starts at the trigger (not consumed). True: everything up to the cursor was calls and their
    markup. False: what follows `cursor.mark` is content. It begins a call only once the name is complete, offered,
    and its arguments have begun or are known to be none; text between the calls of a section that is not white space
    goes to `calls.content`. When `cursor.end` is CUT, a started call ends unclosed (`calls.finish(whole=False)`); when
    it is DONE, what is open is closed.
    """

    @property
    def triggers(self) -> Sequence[str]: ...
    @property
    def at_start(self) -> bool: ...
    def read(self, text: Cursor, calls: CallWriter) -> Steps[bool]: ...


@runtime_checkable
class Addressed(Protocol):
    """A syntax that also writes headers over text. They are markup even where no tools are offered."""

    headers: Sequence[str]
