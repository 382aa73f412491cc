"""One server process: started, waited for, measured, ended."""

from __future__ import annotations

import contextlib
import http.client
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

START_S = 120.0
STOP_S = 10.0
POLL_S = 0.01


class DidNotStart(Exception):
    """The server ended, or did not answer in time. Carries the end of its log."""


@dataclass(frozen=True)
class Peer:
    """A server that can be started. name: as in the table.  health: a path that answers 200 once it can serve.

    respelled: llama-server's flags that have another name here; "" where there is none.
    """

    name: str
    command: tuple[str, ...]
    health: str = "/health"
    respelled: Mapping[str, str] = field(default_factory=dict)

    def arguments(self, flags: Sequence[str]) -> list[str]:
        """The command with llama-server's flags, each with a value, as this server takes them."""
        spelled = list(self.command)
        for flag, value in zip(flags[::2], flags[1::2], strict=True):
            if name := self.respelled.get(flag, flag):
                spelled += [name, value]
        return spelled


@dataclass(frozen=True)
class Server:
    """A running, healthy server. started_s: from spawning it to the first 200."""

    peer: Peer
    process: subprocess.Popen
    port: int
    started_s: float

    def rss_mib(self) -> float:
        """Resident memory, the mapped model included, as the system counts it."""
        status = Path(f"/proc/{self.process.pid}/status")
        if status.exists():
            line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
            return int(line.split()[1]) / 1024
        ps = ["ps", "-o", "rss=", "-p", str(self.process.pid)]
        return int(subprocess.run(ps, check=True, capture_output=True, text=True).stdout) / 1024


@contextlib.contextmanager
def running(peer: Peer, flags: Sequence[str], log: Path) -> Iterator[Server]:
    """The server while it is up; it is gone afterwards. flags: llama-server's. Raises DidNotStart."""
    port = free_port()
    command = peer.arguments([*flags, "--host", "127.0.0.1", "--port", str(port)])
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            yield Server(peer, process, port, wait_until_healthy(peer, process, port, log) - began)
        finally:
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_until_healthy(peer: Peer, process: subprocess.Popen, port: int, log: Path) -> float:
    """The moment at which it was."""
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if process.poll() is not None:
            raise DidNotStart(f"{peer.name} ended with status {process.returncode}:\n{tail(log)}")
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
            try:
                connection.request("GET", peer.health)
                if connection.getresponse().status == http.client.OK:
                    return time.monotonic()
            finally:
                connection.close()
        time.sleep(POLL_S)
    raise DidNotStart(f"{peer.name} did not answer within {START_S:.0f} s:\n{tail(log)}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def tail(log: Path, lines: int = 15) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
