"""What we compare with, built once into bench/peers/ (git ignores it).

llama-server comes from the source package that pip builds our llama.cpp from: the same commit, the same compiler, the
same flags (CMAKE_ARGS is passed on here as pip passes it on there). llama_cpp.server is llama-cpp-python's own server,
of the same version, in an environment of its own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from pathlib import Path

from fetch_templates import PEER_SDIST, pinned_version
from install import progress, say

from bench_server.process import Peer

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "bench" / "peers"
PACKAGE = "llama-cpp-python"
OURS, LLAMA_SERVER, LLAMA_CPP_SERVER = "ferrox-server", "llama-server", "llama_cpp.server"
ALREADY_BUILT = "FERROX_BENCH_LLAMA_SERVER"
"""Names a llama-server to use instead of building one."""

CMAKE = """
-DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON -DLLAMA_BUILD_SERVER=ON -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF
-DLLAMA_BUILD_UI=OFF -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF
""".split()


def ours() -> Peer:
    return Peer(OURS, (str(Path(sys.executable).with_name("ferrox-server")),))


def llama_server() -> Peer:
    return Peer(LLAMA_SERVER, (str(llama_server_binary()),))


def llama_cpp_server() -> Peer:
    """It takes one request at a time; without the flag, a second one would end the first."""
    command = (str(llama_cpp_python()), "-m", "llama_cpp.server", "--interrupt_requests", "false")
    flags = {"-m": "--model", "-t": "--n_threads", "-tb": "--n_threads_batch", "-c": "--n_ctx", "-np": ""}
    return Peer(LLAMA_CPP_SERVER, command, "/v1/models", flags)


PEERS = {LLAMA_SERVER: llama_server, LLAMA_CPP_SERVER: llama_cpp_server}


def llama_server_binary() -> Path:
    """The path of a llama-server, built when there is none."""
    if named := os.environ.get(ALREADY_BUILT):
        return Path(named)
    version = pinned_version()
    build = HOME / f"llama-server-{version}"
    binary = build / "bin" / "llama-server"
    if not binary.exists():
        source = source_package(version) / "vendor" / "llama.cpp"
        say(f"building llama-server from the source package of {PACKAGE} {version} (once, for some minutes)")
        cmake, ninja = build_tools()
        configure = [cmake, "-S", str(source), "-B", str(build), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}", *CMAKE]
        shown([*configure, *shlex.split(os.environ.get("CMAKE_ARGS", ""))])
        shown([cmake, "--build", str(build), "--target", "llama-server"])
    return binary


def source_package(version: str) -> Path:
    """The unpacked source package, taken from the peer suite's cache or through pip."""
    package = PEER_SDIST / "PKG-INFO"
    if package.is_file() and f"\nVersion: {version}\n" in package.read_text(errors="replace"):
        return PEER_SDIST
    folder = HOME / f"source-{version}"
    if not folder.is_dir():
        HOME.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=HOME, prefix=".source-") as scratch:
            say(f"fetching the source package of {PACKAGE} {version}")
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", PACKAGE]
            subprocess.run([*pip, "--dest", scratch, f"{PACKAGE}=={version}"], check=True)
            (archive,) = Path(scratch).glob("*.tar.gz")
            subprocess.run(["tar", "xzf", str(archive), "-C", scratch], check=True)
            (unpacked,) = (entry for entry in Path(scratch).iterdir() if entry.is_dir())
            unpacked.rename(folder)
    return folder


def build_tools() -> tuple[str, str]:
    """cmake and ninja: the system's, or from the package index."""
    if (cmake := shutil.which("cmake")) and (ninja := shutil.which("ninja")):
        return cmake, ninja
    python = environment("build", ["cmake", "ninja"])
    return str(python.with_name("cmake")), str(python.with_name("ninja"))


def llama_cpp_python() -> Path:
    """A Python that has llama_cpp.server; pip takes the wheel that it has built for us."""
    version = pinned_version()
    return environment(f"llama-cpp-server-{version}", [f"{PACKAGE}[server]=={version}"])


def environment(name: str, packages: list[str]) -> Path:
    """The Python of a virtual environment with these packages. It is complete when its stamp is there."""
    folder = HOME / name
    python, stamp = folder / "bin" / "python", folder / ".complete"
    if not stamp.exists():
        say(f"installing {' '.join(packages)} into bench/peers/{name}")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        shown([str(python), "-m", "pip", "--disable-pip-version-check", "install", "--verbose", *packages])
        stamp.touch()
    return python


def shown(command: list[str]) -> None:
    """Run it, its lines become one line of progress. Raises SystemExit, after its last lines, when it fails."""
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    last = deque(progress(running.stdout), maxlen=40)
    if running.wait():
        print(*last, sep="", file=sys.stderr)
        sys.exit(f"failed: {shlex.join(command)}")
