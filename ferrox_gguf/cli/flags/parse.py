"""Arguments and environment → Settings. A flag wins over its variable, a later flag over an earlier one.

Raises StartupError with the one line that a person needs.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ferrox_gguf.cli.flags.environment import prediction, unread, variable, variables
from ferrox_gguf.cli.flags.escapes import unescaped
from ferrox_gguf.cli.flags.flag import Action, Flag, State
from ferrox_gguf.cli.flags.path import get, put
from ferrox_gguf.cli.flags.shown import default
from ferrox_gguf.cli.flags.table import FLAGS, by_spelling
from ferrox_gguf.cli.flags.values import truth
from ferrox_gguf.errors import StartupError
from ferrox_gguf.settings import Settings

SAMPLING = "generation.sampling."
ASKS_FOR_NOTHING = ("none", "off")


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What a person asked for. action: print that instead of serving.  warnings: one line each, without a prefix."""

    settings: Settings
    action: Action | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Use:
    """A flag as it was used. said: its spelling or variable.  on: False for an off spelling.  raw: what followed."""

    flag: Flag
    said: str
    on: bool = True
    raw: str | None = None


def parse(arguments: Sequence[str], environment: Mapping[str, str]) -> CommandLine:
    """Read everything, or stop at the first thing that is wrong."""
    given = list(_uses(arguments))
    for use in given:
        if isinstance(use.flag.sets, Action):
            return CommandLine(Settings(), action=use.flag.sets)
    named = {use.flag.name for use in given}
    reading = _Reading()
    for flag in FLAGS:
        if flag.name not in named and (found := variable(flag, environment)):
            reading.apply(Use(flag, found.name, found.on, found.raw))
    reading.warnings += _unread(environment)
    for use in given:
        reading.apply(use)
    return CommandLine(_checked(reading, environment), warnings=tuple(dict.fromkeys(reading.warnings)))


def _unread(environment: Mapping[str, str]) -> list[str]:
    """A misspelt variable would otherwise do nothing, silently."""
    known = {name for flag in FLAGS for name in variables(flag)}
    return [
        f"{name} is set, but no flag reads it (the nearest known variable is {_closest(name, known)})"
        for name in unread(environment, known)
    ]


def _uses(arguments: Sequence[str]) -> Iterator[Use]:
    spellings = by_spelling()
    words = iter(arguments)
    for word in words:
        spelling, _, attached = _underscored(word)
        if spelling not in spellings:
            raise StartupError(f"invalid argument: {word} (the nearest known flag is {_nearest(spelling, spellings)})")
        flag, on = spellings[spelling]
        if flag.value is None:
            if attached is not None:
                raise StartupError(f"{spelling}: takes no value")
            yield Use(flag, spelling, on)
            continue
        following = [attached] if attached is not None else []
        while len(following) < flag.value.words:
            if (following_word := next(words, None)) is None:
                raise StartupError(f"{spelling}: expected a value ({flag.value.hint})")
            following.append(following_word)
        yield Use(flag, spelling, on, " ".join(following))


def _underscored(word: str) -> tuple[str, str, str | None]:
    """A long flag may be written with underscores, and with its value attached (--port=8081)."""
    if not word.startswith("--"):
        return word, "", None
    spelling, equals, attached = word.partition("=")
    return spelling.replace("_", "-"), equals, attached if equals else None


def _nearest(spelling: str, spellings: Mapping[str, object]) -> str:
    bare = {name.lstrip("-"): name for name in spellings}
    return bare[_closest(spelling.lstrip("-"), bare)]


def _closest(word: str, words: Iterable[str]) -> str:
    """The most alike; before it, one with the same letters in another order (`prot` is `port`, not `prio`)."""
    near = difflib.get_close_matches(word, words, n=5, cutoff=0.0)
    return next((each for each in near if sorted(each) == sorted(word)), near[0])


@dataclass(slots=True)
class _Reading:
    """Settings so far. begun: lists whose default was replaced already.  escape: read \\n in texts."""

    settings: Settings = field(default_factory=Settings)
    warnings: list[str] = field(default_factory=list)
    begun: set[str] = field(default_factory=set)
    escape: bool = True

    def apply(self, use: Use) -> None:
        flag, value = use.flag, _value(use)
        if flag.state is not State.DONE:
            self._without(use, value)
        if flag.name == "--escape":
            self.escape = bool(value)
        elif callable(flag.sets):
            self.settings = flag.sets(self.settings, value)
        elif isinstance(flag.sets, str):
            self._put(flag, flag.sets, value)

    def _put(self, flag: Flag, path: str, value: object) -> None:
        if flag.extends and path in self.begun:
            value = (*_items(get(self.settings, path)), *_items(value))
        self.begun.add(path)
        self.settings = put(self.settings, path, value)
        if path.startswith(SAMPLING):
            names = self.settings.sampling_given | {path.removeprefix(SAMPLING)}
            self.settings = replace(self.settings, sampling_given=names)

    def _without(self, use: Use, value: object) -> None:
        """A flag of a feature that is not here: nothing to say when it asks for what happens anyway."""
        wanted = value if use.flag.value is None else use.raw not in ASKS_FOR_NOTHING
        if wanted == (default(use.flag) == "on"):
            return
        if use.flag.state is State.REFUSED:
            raise StartupError(f"{use.said}: {use.flag.why}")
        self.warnings.append(f"{use.said} has no effect: {use.flag.why}")


def _items(value: object) -> tuple[object, ...]:
    assert isinstance(value, tuple)
    return value


def _value(use: Use) -> object:
    flag = use.flag
    try:
        if flag.value is not None:
            return flag.value.parse(use.raw or "")
        on = use.on if use.raw is None else (flag.truth or truth)(use.raw)
    except ValueError as error:
        raise StartupError(f"{use.said}: {error}") from None
    return flag.switched_on if on else not flag.switched_on


def _checked(reading: _Reading, environment: Mapping[str, str]) -> Settings:
    """What depends on more than one flag."""
    settings = reading.settings
    generation = settings.generation
    if reading.escape:
        breakers = tuple(unescaped(text) for text in generation.sampling.dry_sequence_breakers)
        stops = tuple(unescaped(text) for text in generation.stop)
        sampling = replace(generation.sampling, dry_sequence_breakers=breakers)
        settings = replace(settings, generation=replace(generation, stop=stops, sampling=sampling))
    tls = settings.server.tls
    if bool(tls.key_file) != bool(tls.cert_file):
        raise StartupError("https needs both --ssl-key-file and --ssl-cert-file")
    server = prediction(settings.server, environment)
    aliases = tuple(dict.fromkeys(settings.model.aliases))
    return replace(settings, server=server, model=replace(settings.model, aliases=aliases))
