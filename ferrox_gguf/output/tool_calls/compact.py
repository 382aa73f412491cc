"""JSON on its way through, without its insignificant white space: the longest certain prefix at every moment.

Numbers and escapes stay as written; raw control characters in strings (models write them) are escaped. Values are
checked by JSON's own grammar, at most 200 deep; the first character that cannot be JSON stops the machine.
"""

from __future__ import annotations

import re

MAX_DEPTH = 200

_PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
_SPACE = re.compile(r"[ \t\r\n]*")
_HEX = frozenset("0123456789abcdefABCDEF")
_LITERALS = {"t": "true", "f": "false", "n": "null"}

_DIGITS = "0123456789"


def _row(digits: str = "", point: str = "", exponent: str = "", sign: str = "") -> dict[str, str]:
    row = dict.fromkeys(_DIGITS, digits) if digits else {}
    if point:
        row["."] = point
    if exponent:
        row |= dict.fromkeys("eE", exponent)
    if sign:
        row |= dict.fromkeys("+-", sign)
    return row


# JSON's number grammar as a table: state → character → state.
_NUMBER: dict[str, dict[str, str]] = {
    "start": {"-": "minus", **_row("integer"), "0": "zero"},
    "minus": {**_row("integer"), "0": "zero"},
    "zero": _row(point="point", exponent="exponent"),
    "integer": _row("integer", point="point", exponent="exponent"),
    "point": _row("fraction"),
    "fraction": _row("fraction", exponent="exponent"),
    "exponent": _row("power", sign="sign"),
    "sign": _row("power"),
    "power": _row("power"),
}
_COMPLETE = frozenset({"zero", "integer", "fraction", "power"})
_CONTROL = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


def escape_control(char: str) -> str:
    """JSON's escape of one control character."""
    return _CONTROL.get(char) or f"\\u{ord(char):04x}"


class CompactJson:
    """One JSON value, in pieces of text.

    feed(text, at) reads from `at` and returns (where it stopped, what became certain). It stops before the end of the
    text only when the value is done (behind it) or failed (at the offending character).
    close() makes what has been given out valid JSON, as if the model had closed everything; cut() gives out what is
    certain to have been written, unclosed. in_string: a marker met now is part of a string.
    """

    __slots__ = ("_comma", "_escape", "_expect", "_held", "_number", "_stack", "_word", "done", "failed", "in_string")

    def __init__(self) -> None:
        self._stack: list[str] = []
        self._expect = "value"
        self._number = self._held = self._word = ""
        self._escape = ""
        self._comma = False
        self.in_string = False
        self.done = self.failed = False

    def feed(self, text: str, at: int = 0) -> tuple[int, str]:
        size = len(text)
        if self.in_string and not self._escape and (match := _PLAIN.match(text, at)) and match.end() == size:
            return size, match.group()
        out: list[str] = []
        while at < size and not self.done and not self.failed:
            if self.in_string:
                at = self._string(text, at, out)
            elif self._number:
                at = self._continue_number(text, at, out)
            elif self._word:
                at = self._continue_word(text, at, out)
            else:
                match = _SPACE.match(text, at)
                at = match.end() if match else at
                if at < size:
                    at = self._token(text, at, out)
        return at, "".join(out)

    def close(self) -> str:
        """What is missing to make the text given out so far one valid value (nothing when done)."""
        if self.done:
            return ""
        out: list[str] = []
        if self.in_string:
            out.append('"')
        elif self._word:
            out.append(_LITERALS[self._word[0]])
        elif self._number:
            out.append(self._close_number())
        elif self._expect == "value" and not self._comma:
            out.append("null")
        if self._expect in ("colon", "key_string"):
            out.append(":null")
        out += ["}" if opener == "{" else "]" for opener in reversed(self._stack)]
        self._stack.clear()
        self.done = True
        return "".join(out)

    def end(self) -> bool:
        """The text is over: is the value whole? (Only a bare number ends without a character behind it.)"""
        if not self._stack and self._number in _COMPLETE:
            self.done = True
        return self.done

    def cut(self) -> str:
        """What was held of text that was certainly written, when output was cut off."""
        return self._escape or self._held or self._word or ("," if self._comma else "")

    @property
    def in_list(self) -> bool:
        """Inside an open list of this value."""
        return "[" in self._stack

    @property
    def depth(self) -> int:
        """Open objects and lists."""
        return len(self._stack)

    # -- strings

    def _string(self, text: str, at: int, out: list[str]) -> int:
        if self._escape:
            return self._continue_escape(text, at, out)
        if match := _PLAIN.match(text, at):
            out.append(match.group())
            at = match.end()
            if at == len(text):
                return at
        char = text[at]
        if char == '"':
            out.append('"')
            self.in_string = False
            self._after_string()
        elif char == "\\":
            self._escape = "\\"
        else:
            out.append(escape_control(char))
        return at + 1

    def _continue_escape(self, text: str, at: int, out: list[str]) -> int:
        """An escape is given out whole, so that a cut never leaves half of one."""
        char = text[at]
        if len(self._escape) == 1:
            if char not in '"\\/bfnrtu':
                self.failed = True
                return at
            self._escape += char
            if char != "u":
                out.append(self._escape)
                self._escape = ""
        elif char in _HEX:
            self._escape += char
            if len(self._escape) == 6:
                out.append(self._escape)
                self._escape = ""
        else:
            self.failed = True
            return at
        return at + 1

    def _after_string(self) -> None:
        if self._expect == "key_string":
            self._expect = "colon"
        else:
            self._value_done()

    def _close_number(self) -> str:
        """A number that ends in `-` alone is null; a held `.` or `e` is dropped: what was given out is a number."""
        return "null" if self._number == "minus" else ""

    # -- numbers and words

    def _continue_word(self, text: str, at: int, out: list[str]) -> int:
        word = _LITERALS[self._word[0]]
        char = text[at]
        if char != word[len(self._word)]:
            return self._fail(at)
        self._word += char
        if self._word == word:
            out.append(word)
            self._word = ""
            self._value_done()
        return at + 1

    def _continue_number(self, text: str, at: int, out: list[str]) -> int:
        """Digits go out as they come; what must not end a number (`-`, `1.`, `1e+`) waits for the digit behind it."""
        size, start, held, state = len(text), at, self._held, self._number
        certain = at
        while at < size and (after := _NUMBER[state].get(text[at])) is not None:
            state = after
            at += 1
            if state in _COMPLETE:
                certain = at
        self._number = state
        if certain > start:
            out.append(held + text[start:certain])
            self._held = text[certain:at]
        else:
            self._held = held + text[start:at]
        if at < size:
            if state not in _COMPLETE:
                return self._fail(at)
            self._number = ""
            self._value_done()
        return at

    # -- structure

    def _token(self, text: str, at: int, out: list[str]) -> int:
        char = text[at]
        expect = self._expect
        if expect == "colon":
            if char != ":":
                return self._fail(at)
            out.append(":")
            self._expect = "value"
        elif expect == "separator":
            if char == ",":
                self._comma = True
                self._expect = "key" if self._stack[-1] == "{" else "value"
            elif char == ("}" if self._stack[-1] == "{" else "]"):
                self._close_container(char, out)
            else:
                return self._fail(at)
        elif expect in ("key", "first_key"):
            if char == '"':
                self._open(out, '"')
                self.in_string = True
                self._expect = "key_string"
            elif char == "}" and expect == "first_key":
                self._close_container(char, out)
            else:
                return self._fail(at)
        elif char == "]" and expect == "first_value":
            self._close_container(char, out)
        else:
            return self._value(char, at, out)
        return at + 1

    def _value(self, char: str, at: int, out: list[str]) -> int:
        if char == '"':
            self._open(out, '"')
            self.in_string = True
        elif char in "{[":
            if len(self._stack) >= MAX_DEPTH:
                return self._fail(at)
            self._open(out, char)
            self._stack.append(char)
            self._expect = "first_key" if char == "{" else "first_value"
        elif char in "-0123456789" or char in _LITERALS:
            self._open(out, "")
            if char in _LITERALS:
                self._word = char
            else:
                self._number = "start"
                return at
        else:
            return self._fail(at)
        return at + 1

    def _open(self, out: list[str], char: str) -> None:
        """A token begins: the comma before it is certain now."""
        if self._comma:
            out.append(",")
            self._comma = False
        out.append(char)

    def _close_container(self, char: str, out: list[str]) -> None:
        out.append(char)
        self._stack.pop()
        self._value_done()

    def _value_done(self) -> None:
        if self._stack:
            self._expect = "separator"
        else:
            self.done = True

    def _fail(self, at: int) -> int:
        self.failed = True
        return at
