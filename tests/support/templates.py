"""llama.cpp's own chat templates, for tests that walk real families. Fetched once by scripts/fetch_templates.py."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path

_SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "fetch_templates.py"


@lru_cache(maxsize=1)
def templates() -> dict[str, str]:
    """Source by name (`Qwen-Qwen3-0.6B`), in order of name."""
    spec = importlib.util.spec_from_file_location("fetch_templates", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    folder: Path = script.templates_folder()
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.jinja"))}


def template(name: str) -> str:
    """The source of one template."""
    return templates()[name]
