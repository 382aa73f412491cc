"""The templates that `--chat-template` knows by name: our own files in `chat_templates/`.

In the wheel they lie inside the package, in a checkout beside it.
"""

from __future__ import annotations

from pathlib import Path

import ferrox_gguf


def folder() -> Path:
    """Where the files are."""
    package = Path(ferrox_gguf.__file__).resolve().parent
    packaged = package / "_chat_templates"
    return packaged if packaged.is_dir() else package.parent / "chat_templates"


def names() -> list[str]:
    """llama-server's built-in names, sorted."""
    return sorted(path.stem for path in folder().glob("*.jinja"))


def source(name: str) -> str | None:
    """The Jinja source of a named template, None when there is none of that name."""
    path = folder() / f"{name}.jinja"
    return path.read_text(encoding="utf-8") if name in names() else None
