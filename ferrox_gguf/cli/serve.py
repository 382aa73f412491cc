"""`ferrox-server`: flags → Settings → a running server.

What goes wrong before it listens is one line on standard error and exit status 1.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence

from ferrox_gguf import __version__
from ferrox_gguf.cli.flags.completion import completion_bash
from ferrox_gguf.cli.flags.flag import Action
from ferrox_gguf.cli.flags.help import help_text
from ferrox_gguf.cli.flags.parse import parse
from ferrox_gguf.errors import StartupError
from ferrox_gguf.settings import Settings


def run(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> int:
    """Serve until told to stop. The result is the process's exit status."""
    try:
        command_line = parse(arguments, environment)
        if command_line.action is not None:
            print(ACTIONS[command_line.action]())
            return 0
        return _serve(command_line.settings, command_line.warnings)
    except StartupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _serve(settings: Settings, warnings: Sequence[str]) -> int:
    from ferrox_gguf.server import serve

    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if not settings.model.path:
        raise StartupError("no model: say which with -m FILE or -hf USER/MODEL")
    return serve.run(settings)


def _help() -> str:
    return help_text("ferrox-server", shutil.get_terminal_size((100, 24)).columns)


def _version() -> str:
    from importlib.metadata import version

    return f"version: {__version__} (ferrox-gguf)\nllama-cpp-python: {version('llama-cpp-python')}"


def _todo() -> str:
    raise StartupError("not yet")


ACTIONS: Mapping[Action, Callable[[], str]] = {
    Action.HELP: _help,
    Action.VERSION: _version,
    Action.COMPLETION_BASH: completion_bash,
    Action.CACHE_LIST: _todo,
    Action.LIST_DEVICES: _todo,
}
