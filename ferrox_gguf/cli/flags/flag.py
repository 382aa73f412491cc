"""One row of the flag table: how a flag is spelled, what its value may be, and what it does.

The same row parses, and writes `--help`, the shell completion and docs/flags.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, Union

from ferrox_gguf.settings import Settings


class Group(Enum):
    """A heading of `--help`, in the order in which a person meets them."""

    HELP = "Help"
    MODEL = "The model"
    CONTEXT = "Context and batches"
    CACHE = "What is kept of prompts"
    CPU = "CPU"
    GPU = "GPU and memory"
    ROPE = "Position scaling"
    SAMPLING = "Sampling"
    CONSTRAINT = "Constraints"
    CHAT = "Chat"
    REASONING = "Thinking"
    SERVER = "Listening"
    ACCESS = "Who may ask"
    ENDPOINT = "Endpoints"
    VECTOR = "Embeddings and reranking"
    ADAPTER = "Adapters"
    LOG = "Logging"
    DRAFT = "Speculative decoding"
    MEDIA = "Images, audio and video"
    ROUTER = "Several models"
    AGENT = "Tools run by the server"
    PRESET = "Ready-made choices"


class State(Enum):
    """What this server does with a flag of llama-server's.

    A feature that is not here and only makes answers faster is ACCEPTED; one whose absence would change what is served
    is REFUSED.
    """

    DONE = "done"
    ACCEPTED = "accepted"
    REFUSED = "refused"


class Action(Enum):
    """A flag that prints something and ends the program instead of starting the server."""

    HELP = "help"
    VERSION = "version"
    CACHE_LIST = "cache-list"
    COMPLETION_BASH = "completion-bash"
    LIST_DEVICES = "list-devices"


@dataclass(frozen=True, slots=True)
class Value:
    """What follows a flag. parse: text → value, or ValueError that says what was expected.

    hint: how `--help` writes it.  choices: offered by the shell's completion.  words: how many arguments belong to it,
    handed to parse joined by one space.  show: value → how `--help` writes a default.
    """

    hint: str
    parse: Callable[[str], object]
    choices: tuple[str, ...] = ()
    words: int = 1
    show: Callable[[object], str] = str


Effect: TypeAlias = Union[str, Action, Callable[[Settings, object], Settings], None]
"""A path into Settings ("context.n_ctx"), an action, or a function for flags that decide several things."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """names: spellings, the first long one is its name in messages.  off: spellings that switch it off.

    value: None for a switch.  env: variables, the first has precedence.
    default: as `--help` shows it; None to show what Settings() holds.
    switched_on: what a switch means when given (its off spellings mean the opposite).
    extends: each use adds to a list (the first replaces the default).  truth: how a switch's variables are read.
    why: for a flag that is not done, the reason, and what to do instead.  ours: llama-server has no such flag.
    An accepted flag may have a path: it is the setting that no room reads yet.
    """

    names: tuple[str, ...]
    off: tuple[str, ...] = ()
    group: Group
    help: str
    value: Value | None = None
    env: tuple[str, ...] = field(default=())
    sets: Effect = None
    default: str | None = None
    switched_on: bool = True
    extends: bool = False
    truth: Callable[[str], bool] | None = None
    state: State = State.DONE
    why: str = ""
    ours: bool = False

    @property
    def name(self) -> str:
        """The first long spelling."""
        return next((name for name in self.names if name.startswith("--")), self.names[0])
