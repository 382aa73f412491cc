"""What one rendering may cost. Owns the limits; `environment.py` decides where they are felt.

A chat template is a program that came with a downloaded file. The sandbox keeps it away from Python; these bounds keep
it from hanging the server or eating its memory. They are far above what a conversation needs: the 69 templates of
llama.cpp render a 1,000-message history with under 1 % of either.
"""

from __future__ import annotations

import re
import time
from contextvars import ContextVar
from types import TracebackType

SECONDS = 10.0
"""Longest rendering. Felt at every turn of a loop and every macro call, so a loop without output ends too."""

CHARACTERS = 1 << 28
"""Text built during one rendering, all intermediate strings together (a template that appends to one growing string
builds it anew each time)."""

ITEMS = 1_000_000
"""Longest list that an operator or method may build; ranges are held to jinja2's own 100,000."""

WIDTH = 10_000
"""Largest padding, indentation or repetition count that one operation may ask for on its own."""


class BoundExceeded(Exception):
    """The template asked for more than a rendering may cost."""


class Budget:
    """The running account of one rendering; `current()` finds it from inside filters and operators.

    A context variable holds it because the compiled template and its environment are shared between threads.
    """

    def __init__(self, *, seconds: float = SECONDS, characters: int = CHARACTERS) -> None:
        self._deadline = time.monotonic() + seconds
        self._characters = characters

    def tick(self) -> None:
        """Called at every turn of a loop. Raises BoundExceeded when the time is over."""
        if time.monotonic() > self._deadline:
            raise BoundExceeded("it runs for too long")

    def charge(self, characters: int) -> None:
        """Account for text about to be built. Raises BoundExceeded before it exists."""
        self._characters -= characters
        if self._characters < 0:
            raise BoundExceeded("it builds too much text")

    def __enter__(self) -> Budget:
        self._outer = _BUDGET.set(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        _BUDGET.reset(self._outer)


_BUDGET: ContextVar[Budget | None] = ContextVar("budget", default=None)


def current() -> Budget:
    """The budget of the rendering in progress. Raises BoundExceeded when there is none: jinja2 then leaves a constant
    expression for run time instead of evaluating it while compiling."""
    budget = _BUDGET.get()
    if budget is None:
        raise BoundExceeded("nothing is being rendered")
    return budget


def check_width(width: object) -> None:
    """Refuse a padding or count that could only be meant to fill memory."""
    if isinstance(width, int) and width > WIDTH:
        raise BoundExceeded(f"it asks for a width of {width}")


def check_items(count: int) -> None:
    """Refuse a list longer than any conversation."""
    if count > ITEMS:
        raise BoundExceeded(f"it builds a list of {count} items")


def charge_replace(text: str, old: str, new: str) -> None:
    """Account for `text.replace(old, new)` before it is built."""
    times = text.count(old) if old else len(text) + 1
    current().charge(len(text) + times * len(new))


_PERCENT = re.compile(r"%(?:\([^)]*\))?[#0\- +]*(\*|\d+)?(?:\.(\*|\d+))?")


def charge_percent(template: str) -> None:
    """Account for the widths in a `%` format; one taken from the arguments (a star) could be anything."""
    for widths in _PERCENT.findall(template):
        for width in filter(None, widths):
            if width == "*":
                raise BoundExceeded("it takes a width from the arguments of a % format")
            check_width(int(width[:9]))


def check_spec(spec: str) -> None:
    """Refuse a `str.format` specification (`>30`, `.2f`) whose width or precision is absurd."""
    for width in re.findall(r"\d+", spec):
        check_width(int(width[:9]))
