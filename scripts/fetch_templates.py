#!/usr/bin/env python3
"""Take llama.cpp's chat templates out of the llama-cpp-python source package, and print the folder they are in.

    scripts/fetch_templates.py

The package that pip builds the engine from carries llama.cpp's test templates, at the very commit that is served. They
are other people's work, so they stay in a folder that git ignores (.cache/templates) and out of this repository. A
source package that the peer suite has unpacked is used when its version is the one pinned in pyproject.toml.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache" / "templates"
PEER_SDIST = Path.home() / ".cache" / "ferrox-peer" / "sdist"
INSIDE = "vendor/llama.cpp/models/templates"


def pinned_version() -> str:
    """llama-cpp-python's version in pyproject.toml."""
    found = re.search(r'"llama-cpp-python==([^"]+)"', (ROOT / "pyproject.toml").read_text())
    if not found:
        raise SystemExit("pyproject.toml does not pin llama-cpp-python")
    return found[1]


def templates_folder() -> Path:
    """The folder with the templates of the pinned version, fetched when it is not there yet."""
    version = pinned_version()
    folder = CACHE / version
    if not folder.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            fetched = Path(scratch) / "templates"
            shutil.copytree(_unpacked(version, Path(scratch)), fetched)
            # Another test run may have been quicker; whole folders only ever appear under the final name.
            if not folder.is_dir():
                fetched.rename(folder)
    return folder


def _unpacked(version: str, scratch: Path) -> Path:
    if f"\nVersion: {version}\n" in _text(PEER_SDIST / "PKG-INFO") and (PEER_SDIST / INSIDE).is_dir():
        return PEER_SDIST / INSIDE
    name = "llama-cpp-python"
    print(f"fetching the source package of {name} {version} …", file=sys.stderr)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", name]
    subprocess.run([*pip, "--dest", str(scratch), f"{name}=={version}"], check=True)
    (archive,) = scratch.glob("*.tar.gz")
    with tarfile.open(archive) as source:
        for member in source:
            parts = Path(member.name).parts[1:]
            if member.isfile() and "/".join(parts).startswith(f"{INSIDE}/"):
                target = scratch.joinpath("unpacked", *parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                content = source.extractfile(member)
                assert content is not None
                target.write_bytes(content.read())
    return scratch / "unpacked" / INSIDE


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


if __name__ == "__main__":
    print(templates_folder())
