"""The two commands: `ferrox-server` takes llama-server's flags; `ferrox-gguf` has it as `serve`, beside its tools."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from ferrox_gguf import __version__

COMMANDS = {
    "serve": "serve a model over HTTP (the same as ferrox-server)",
    "inspect": "how a model speaks, and how that was found out, without loading its weights",
    "render": "a conversation (JSON on standard input) as the prompt that the model would see",
    "parse": "a model's raw output as reasoning, content and tool calls",
}
USAGE = "usage: ferrox-gguf COMMAND [flags]\n\n" + "\n".join(f"  {name:9}{what}" for name, what in COMMANDS.items())


def server() -> int:
    """The command ferrox-server."""
    return _run("serve", sys.argv[1:])


def main() -> int:
    """The command ferrox-gguf."""
    arguments = sys.argv[1:]
    if arguments and arguments[0] in COMMANDS:
        return _run(arguments[0], arguments[1:])
    if arguments in (["--version"], ["version"]):
        print(f"ferrox-gguf {__version__}")
        return 0
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(USAGE)
        return 0 if arguments else 1
    print(f"ferrox-gguf: there is no command {arguments[0]!r}\n\n{USAGE}", file=sys.stderr)
    return 1


def _run(command: str, arguments: Sequence[str]) -> int:
    """Imports what the command needs and nothing else: `--help` must not wait for a server's libraries."""
    run: Callable[[Sequence[str]], int] = import_module(f"ferrox_gguf.cli.{command}").run
    try:
        return run(arguments)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 141
