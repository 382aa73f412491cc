#!/usr/bin/env python3
"""Install ferrox-gguf from this folder into the environment of the Python that runs this, showing that it moves.

usage: install.py [EXTRA]      EXTRA: test, for what `make test` needs

llama-cpp-python comes as source: llama.cpp is compiled, for minutes, unless pip has built this version before. pip
hides a compiler's output, so it is installed first and on its own, verbosely, and its lines become one line of
progress. CMAKE_ARGS is passed on (the README has the builds for GPUs).
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILED = re.search(r'"(llama-cpp-python==[^"]+)"', (ROOT / "pyproject.toml").read_text())[1]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
STEP = re.compile(r"\[(\d+)/(\d+)\]")
QUIET_SECONDS = 15
"""Without a terminal, one line this often: enough for a log, and for a person to see that it lives."""


def main(extra: str = "") -> int:
    install_compiled()
    say("installing ferrox-gguf and the rest of its dependencies")
    target = f"{ROOT}[{extra}]" if extra else str(ROOT)
    return subprocess.run([*PIP, "--quiet", "--editable", target]).returncode


def install_compiled() -> None:
    """Raises SystemExit, after the compiler's last lines, when it cannot be built."""
    show = [sys.executable, "-m", "pip", "--disable-pip-version-check", "show", "--quiet", COMPILED.split("==")[0]]
    if subprocess.run(show, stderr=subprocess.DEVNULL).returncode:
        say(f"installing {COMPILED}: the first time, this compiles llama.cpp (about 5 minutes on 2 cores)")
    command = [*PIP, "--verbose", "--progress-bar", "off", COMPILED]
    pip = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    last = deque(progress(pip.stdout), maxlen=40)
    if pip.wait():
        print(*last, sep="", file=sys.stderr)
        sys.exit(f"{COMPILED} could not be installed; a C++ compiler is needed (Debian: apt install g++)")


def progress(lines: Iterator[str]) -> Iterator[str]:
    """The same lines; meanwhile says how far the compiler is."""
    began = shown = time.monotonic()
    terminal, doing = sys.stderr.isatty(), "downloading and preparing"
    for line in lines:
        now = time.monotonic()
        if found := STEP.search(line):
            doing = f"compiling, step {found[1]} of {found[2]}"
        if terminal or now - shown >= QUIET_SECONDS:
            shown = now
            text = f"  {int(now - began) // 60}:{int(now - began) % 60:02} {doing}"
            print(text.ljust(60), end="\r" if terminal else "\n", file=sys.stderr, flush=True)
        yield line
    if terminal and shown > began:
        print(" " * 60, end="\r", file=sys.stderr)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
