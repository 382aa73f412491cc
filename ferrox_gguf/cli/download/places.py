"""Where fetched files are kept, and where they come from: the variables that llama.cpp and the hub's own tools read."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Places:
    """hub: the hub's cache, None for the library's own choice (HF_HUB_CACHE, HF_HOME).

    files: single files fetched by address.  endpoint: None for the hub's own address.
    """

    hub: Path | None
    files: Path
    endpoint: str | None


def places(environment: Mapping[str, str]) -> Places:
    """LLAMA_CACHE, when set, holds everything, as in llama.cpp."""
    chosen = environment.get("LLAMA_CACHE")
    home = Path(environment.get("HOME") or Path.home())
    caches = home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"
    shared = Path(environment.get("XDG_CACHE_HOME") or caches)
    return Places(
        hub=Path(chosen) if chosen else None,
        files=Path(chosen) if chosen else shared / "llama.cpp",
        endpoint=(environment.get("MODEL_ENDPOINT") or environment.get("HF_ENDPOINT") or "").rstrip("/") or None,
    )
