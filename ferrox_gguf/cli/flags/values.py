"""How the text after a flag becomes a value, with llama-server's words and ranges.

Each parser raises ValueError; its message ends the sentence `-c: …`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from ferrox_gguf.cli.flags.flag import Value

TRUE = ("on", "enabled", "true", "1")
FALSE = ("off", "disabled", "false", "0")
AUTO = ("auto", "-1")


def truth(text: str) -> bool:
    """A boolean as llama-server's variables write it."""
    if text in TRUE:
        return True
    if text in FALSE:
        return False
    raise ValueError(f"{text!r} is neither {' / '.join(TRUE)} nor {' / '.join(FALSE)}")


def kind_truth(text: str) -> bool:
    """A boolean in any case, with spaces around it, or a plain `no` (required behaviours, K3)."""
    word = text.strip().lower()
    return False if word == "no" else truth(word)


def integer(low: int | None = None, high: int | None = None, *, hint: str = "N", nonzero: bool = False) -> Value:
    """A whole number between low and high, both allowed."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise ValueError(f"expected a whole number, got {text!r}") from None
        return int(_within(number, low, high, nonzero=nonzero))

    return Value(hint, parse)


def number(low: float | None = None, high: float | None = None, *, hint: str = "N", nonzero: bool = False) -> Value:
    """A finite number between low and high, both allowed."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise ValueError(f"expected a number, got {text!r}") from None
        if not math.isfinite(value):
            raise ValueError("expected a finite number")
        return _within(value, low, high, nonzero=nonzero)

    return Value(hint, parse, show=lambda value: f"{value:g}")


def _within(value: float, low: float | None, high: float | None, *, nonzero: bool) -> float:
    if nonzero and value == 0:
        raise ValueError("0 is not allowed")
    if low is not None and value < low:
        raise ValueError(f"{value:g} is below {low:g}")
    if high is not None and value > high:
        raise ValueError(f"{value:g} is above {high:g}")
    return value


def text(hint: str) -> Value:
    """Anything."""
    return Value(hint, str, show=lambda value: str(value) or "none")


def choice(*words: str, hint: str = "") -> Value:
    """One of these words."""

    def parse(word: str) -> str:
        if word not in words:
            raise ValueError(f"{word!r} is not one of {', '.join(words)}")
        return word

    return Value(hint or "{" + ",".join(words) + "}", parse, choices=words)


def mapped(words: Mapping[str, object], *, hint: str = "") -> Value:
    """One of these words, each standing for a value."""

    def parse(word: str) -> object:
        if word not in words:
            raise ValueError(f"{word!r} is not one of {', '.join(words)}")
        return words[word]

    def show(value: object) -> str:
        return next(word for word, meaning in words.items() if meaning == value)

    return Value(hint or "{" + ",".join(words) + "}", parse, choices=tuple(words), show=show)


def on_off_auto(*, auto: object = None, on: object = True, off: object = False) -> Value:
    """`on`, `off` or `auto`, with the other words for them that variables use."""
    meanings: dict[str, object] = {"on": on, "off": off, "auto": auto}
    meanings |= dict.fromkeys(TRUE, on) | dict.fromkeys(FALSE, off) | dict.fromkeys(AUTO, auto)
    inner = mapped(meanings)
    return Value("{on,off,auto}", inner.parse, choices=("on", "off", "auto"), show=inner.show)


def on_off() -> Value:
    """`on` or `off`."""
    return Value("{on,off}", truth, choices=("on", "off"), show=lambda value: "on" if value else "off")


def comma_list(hint: str, item: Callable[[str], object] = str, *, needed: bool = False) -> Value:
    """Values between commas, in a tuple; a field may be quoted ("a, b", with "" for a quote)."""

    def parse(row: str) -> tuple[object, ...]:
        items = tuple(item(part.strip()) for part in split_quoted(row) if part.strip())
        if needed and not items:
            raise ValueError("expected at least one value")
        return items

    return Value(hint, parse, show=_show_list)


def _show_list(value: object) -> str:
    assert isinstance(value, tuple)
    return ",".join(str(part) for part in value) or "none"


def split_quoted(row: str) -> list[str]:
    """The fields of one comma-separated row. A quote opens a field only at its start; elsewhere it is a character."""
    fields, current, quoted, at = [], "", False, 0
    while at < len(row):
        here = row[at]
        if quoted and row.startswith('""', at):
            current, at = current + '"', at + 1
        elif here == '"' and (quoted or not current):
            quoted = not quoted
        elif here == "," and not quoted:
            fields.append(current)
            current = ""
        else:
            current += here
        at += 1
    return [*fields, current]


def folder(hint: str = "PATH") -> Value:
    """A folder that exists."""

    def parse(path: str) -> str:
        if not Path(path).is_dir():
            raise ValueError(f"not a directory: {path}")
        return path

    return Value(hint, parse, show=lambda value: str(value) or "none")


def new_folder(hint: str = "PATH") -> Value:
    """A folder, made if there is none."""

    def parse(path: str) -> str:
        try:
            Path(path).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"cannot make the folder {path}: {error.strerror}") from None
        return path

    return Value(hint, parse, show=lambda value: str(value) or "none")


def contents(hint: str, then: Callable[[str], object] = str) -> Value:
    """A file, read at once. then: turns its text into the value."""

    def parse(path: str) -> object:
        try:
            return then(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from None

    return Value(hint, parse, show=lambda value: str(value) or "none")
