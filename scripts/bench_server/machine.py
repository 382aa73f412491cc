"""Where and with what it was measured."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from bench_server.peers import ROOT


def machine() -> dict[str, object]:
    return {
        "system": platform.platform(),
        "processor": field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory": field("/proc/meminfo", "MemTotal"),
        "load_before": [round(value, 2) for value in os.getloadavg()],
    }


def versions(llama_server: Path | None) -> dict[str, str]:
    found = {name: version(name) for name in ("ferrox-gguf", "llama-cpp-python", "uvicorn", "uvloop", "numpy")}
    found["python"] = platform.python_version()
    found["commit"] = output(["git", "-C", str(ROOT), "describe", "--always", "--dirty"])
    if llama_server:
        found["llama-server"] = output([str(llama_server), "--version"])
    return found


def field(path: str, name: str) -> str:
    """The first value under a name in one of /proc's tables; "" where there is none."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")


def output(command: list[str]) -> str:
    """What a command says on either stream; "" when it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout + done.stderr).strip()
