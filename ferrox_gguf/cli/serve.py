"""`ferrox-server`: flags → Settings → a running server.

What goes wrong before it listens is one line on standard error and exit status 1. Rooms below are imported where they
are needed: `--help` must not wait for llama.cpp.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence

from ferrox_gguf import __version__
from ferrox_gguf.cli import gpu
from ferrox_gguf.cli.download import located
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
            print(ACTIONS[command_line.action](environment))
            return 0
        for warning in command_line.warnings:
            _warn(warning)
        return _serve(located(command_line.settings, environment))
    except StartupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _serve(settings: Settings) -> int:
    _stay_on(settings.context.cpu.cpus)
    found = gpu.present()
    if found or settings.model.n_gpu_layers != -1:
        from ferrox_gguf.llama.devices import describe_devices

        if advice := gpu.advice(settings.model, found, describe_devices()):
            _warn(advice)
    from ferrox_gguf.server import serve

    return serve.run(settings)


def _stay_on(cpus: tuple[int, ...]) -> None:
    """Before any thread starts, so that llama.cpp's inherit it (and count the CPUs that are left)."""
    if not cpus:
        return
    if not hasattr(os, "sched_setaffinity"):
        _warn("--cpu-mask and --cpu-range have no effect on this system")
        return
    try:
        os.sched_setaffinity(0, set(cpus) & set(range(os.cpu_count() or 1)))
    except OSError as error:
        raise StartupError(f"--cpu-mask, --cpu-range: {error.strerror}") from None


def _warn(line: str) -> None:
    print(f"warning: {line}", file=sys.stderr)


def _help(environment: Mapping[str, str]) -> str:
    return help_text("ferrox-server", shutil.get_terminal_size((100, 24)).columns)


def _version(environment: Mapping[str, str]) -> str:
    from importlib.metadata import version

    return f"version: {__version__} (ferrox-gguf, on llama-cpp-python {version('llama-cpp-python')})"


def _completion(environment: Mapping[str, str]) -> str:
    return completion_bash()


def _cache_list(environment: Mapping[str, str]) -> str:
    from ferrox_gguf.cli.download.hub import cached_models
    from ferrox_gguf.cli.download.places import places

    models = cached_models(places(environment))
    lines = [f"{size / 2**20:10.1f} MiB  {name}" for name, size in models]
    return "\n".join(lines) or "no model has been fetched yet"


def _list_devices(environment: Mapping[str, str]) -> str:
    from ferrox_gguf.llama.devices import describe_devices

    lines = [f"  {line}" for line in describe_devices()]
    return "\n".join(["Available devices:", *(lines or ["  (none: this build of llama.cpp uses the CPU)"])])


ACTIONS: Mapping[Action, Callable[[Mapping[str, str]], str]] = {
    Action.HELP: _help,
    Action.VERSION: _version,
    Action.COMPLETION_BASH: _completion,
    Action.CACHE_LIST: _cache_list,
    Action.LIST_DEVICES: _list_devices,
}
